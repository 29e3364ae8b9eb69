"""Environments of the packages that ksparse is compared with: python benchmarks/exact_suite/setup.py FOLDER.

OKRidge needs NumPy 1 and imports requests without requiring it; El0ps imports an MPI library.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

PACKAGES = {
    "okridge": ["numpy<2", "okridge==0.1.1", "requests", "scipy", "scikit-learn"],
    "l0bnb": ["l0bnb==1.0.0"],
    "el0ps": ["el0ps==0.0.4", "mpich"],
}


def find_python(folder: Path, method: str) -> Path:
    """The interpreter of a package's environment."""
    return folder / method / "bin" / "python"


def main(folder: Path) -> None:
    for method, packages in PACKAGES.items():
        if not find_python(folder, method).exists():
            venv.create(folder / method, with_pip=True)
            subprocess.run([find_python(folder, method), "-m", "pip", "install", "-q", *packages], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
