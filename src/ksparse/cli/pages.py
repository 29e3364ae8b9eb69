"""Pages that need nothing else: texts of strangers as data, and scripts that run only as they were written."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from ..wording import escape_control

#: What could end a script element, or begin a comment or an entity.
MARKUP = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def open_template(name: str) -> Template:
    """The template of a page; Jinja2 escapes all texts, and control characters are shown as escapes."""
    environment = Environment(
        loader=PackageLoader("ksparse.cli"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: escape_control(value) if type(value) is str else value,
    )
    return environment.get_template(name)


def embed_json(value: Any) -> Markup:
    """Data for a script element of the type application/json: no text in it is markup.

    Examples
    --------
    >>> from ksparse.cli.pages import embed_json
    >>> print(embed_json({"name": "</script>"}).replace(chr(92), "/"))
    {"name":"/u003c/script/u003e"}
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII: line separators are escaped too
    for letter, escape in MARKUP.items():
        text = text.replace(letter, escape)
    return Markup(text)


def read_asset(*place: str) -> str:
    """The text of a file beside this module, such as a script."""
    return files(__package__).joinpath(*place).read_text(encoding="utf-8")


def encode_asset(*place: str, kind: str) -> str:
    """A file beside this module as an address that contains it."""
    content = files(__package__).joinpath(*place).read_bytes()
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def write_policy(scripts: list[str]) -> str:
    """A Content-Security-Policy: only these scripts run, and nothing is loaded from anywhere."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") for text in scripts]
    allowed = " ".join(f"'sha256-{value}'" for value in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; font-src data:; img-src data: blob:;"
        " base-uri 'none'; form-action 'none'"
    )
