"""How long `ksparse fit` of a text file takes, and how much memory: as a whole, in blocks, and by worker processes.

python benchmarks/large_files.py [--gigabytes 3] [--limit 1500MB] [--modes blocks] [--folder /tmp]
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd

from ksparse import load

FEATURES, BLOCK = 40, 50_000
TOWNS = np.array(["Ulm", "Bonn", "Kiel", "Jena", "Trier"])
#: Options of each mode; {} is the limit.
MODES = {
    "memory": ["--resamples", "0", "--no-nested"],
    "blocks": ["--out-of-core", "--workers", "0", "--max-memory", "{}"],
    "workers": ["--out-of-core", "--workers", "2", "--max-memory", "{}"],
}


def write_table(path: Path, size: float) -> None:
    """A file with numbers, gaps, a column of text, row numbers and a target."""
    rng, written = np.random.default_rng(0), 0
    with path.open("w") as file:
        while file.tell() < size:
            X = rng.standard_normal((BLOCK, FEATURES))
            town = rng.choice(TOWNS, BLOCK)
            y = X[:, :5] @ [2.0, -1.0, 0.5, -0.3, 0.2] + 0.8 * (town == "Ulm") + rng.standard_normal(BLOCK)
            frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(FEATURES)]).assign(town=town, y=y)
            frame.loc[rng.random(BLOCK) < 0.05, "x5"] = np.nan
            frame.insert(0, "id", np.arange(written, written + BLOCK) + 1)
            frame.to_csv(file, index=False, header=written == 0, float_format="%.7f")
            written += BLOCK


def measure_memory(process: subprocess.Popen[str], found: list[float]) -> None:
    """Keep the largest memory of a process and of all its children together, of what is not shared with files."""
    while process.poll() is None:
        total, waiting = 0.0, [process.pid]
        while waiting:
            pid = waiting.pop()
            try:
                status = Path(f"/proc/{pid}/status").read_text()
                children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
            except OSError:
                continue
            match = re.search(r"RssAnon:\s+(\d+)", status)
            total += float(match[1]) if match else 0.0
            waiting += map(int, children.split())
        found[0] = max(found[0], total * 1024)
        time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=0.03)
    parser.add_argument("--limit", default="1500MB")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES))
    parser.add_argument("--folder", default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        path = folder / "large.csv"
        write_table(path, options.gigabytes * 1e9)
        print(f"{path.stat().st_size / 1e9:.2f} GB of text, limit {options.limit}\n")
        print("| mode | seconds | largest memory | features | coefficients |\n|---|---|---|---|---|")
        for mode in options.modes:
            more = [part.format(options.limit) for part in MODES[mode]]
            arguments = ["fit", str(path), "--target", "y", *more, "--out", str(folder / mode)]
            began, memory = time.time(), [0.0]
            environment = os.environ | {"TMPDIR": name}
            with subprocess.Popen(
                [sys.executable, "-m", "ksparse", *arguments], stdout=subprocess.DEVNULL, env=environment, text=True
            ) as process:
                watcher = threading.Thread(target=measure_memory, args=(process, memory))
                watcher.start()
                process.wait()
                watcher.join()
            seconds = time.time() - began
            model = load(folder / mode / "model.json")[-1]
            there = np.round(model.coef_[model.support_][:3], 6).tolist()
            print(
                f"| {mode} | {seconds:.0f} | {memory[0] / 2**30:.2f} GB | {model.support_.sum()} | {there} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
