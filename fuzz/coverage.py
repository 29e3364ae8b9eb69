"""Damaged files that reach new code: ``python -m fuzz.coverage csv -max_total_time=600``, with atheris (libFuzzer).

The first argument is a format of `fuzz.files`; the others are options of libFuzzer. The readers run with branches
counted, and files that reach new ones are mutated further. Needs ``pip install atheris``, which has wheels for Linux.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

#: What is instrumented: the parts of ksparse that read files, and the parsers in Python that they use.
INSTRUMENTED = ["ksparse.cli", "ksparse.persistence", "json.decoder", "json.scanner"]
#: Limits of libFuzzer, unless others are given: seconds of a file, memory in megabytes, length of a file.
LIMITS = {"-timeout": "20", "-rss_limit_mb": "1500", "-max_len": "20000"}


def main() -> None:
    """Run libFuzzer on one format until it finds a failure, or its time is over."""
    kind, *options = sys.argv[1:] or ["csv"]
    try:
        import atheris
    except ImportError:
        sys.exit("fuzz.coverage needs atheris: pip install atheris; python -m fuzz --only damaged runs without it")
    with atheris.instrument_imports(include=INSTRUMENTED):
        from .files import FORMATS, File, list_seeds
        from .outcomes import Refused
        from .readers import check_reading
    if kind not in FORMATS:
        sys.exit(f"the format must be one of {', '.join(FORMATS)}, got {kind!r}")

    def test_one_input(content: bytes) -> None:
        try:
            check_reading(File(kind, content))
        except Refused:
            return

    corpus = Path(tempfile.mkdtemp(prefix=f"ksparse-corpus-{kind}-"))
    for number, seed in enumerate(list_seeds(kind.partition(".")[0])):
        (corpus / f"seed{number}").write_bytes(seed)
    given = {option.partition("=")[0] for option in options}
    limits = [f"{name}={value}" for name, value in LIMITS.items() if name not in given]
    atheris.Setup([sys.argv[0], *options, *limits, str(corpus)], test_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
