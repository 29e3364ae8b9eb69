"""Fitted models as plain JSON: `save` and `load`.

A file holds names, numbers and text, and nothing that runs, so it is safe to load from untrusted sources: classes are
looked up in a fixed table (`ksparse.persistence.schema`), and a file cannot ask for more memory than `MAX_BYTES`.
"""

from .files import dumps, load, load_notes, loads, save, write_text

__all__ = ["dumps", "load", "load_notes", "loads", "save", "write_text"]
