"""Page."""
from pathlib import Path
def write_page(folder: Path, docs: Path) -> None:
    pass
