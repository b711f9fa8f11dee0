"""Overrides of scenario fields as a command line gives them."""

import tomllib
from collections.abc import Iterable
from typing import Any

from mayfly.errors import MayflyError
from mayfly.text import quantity


def merged(written: Iterable[str], options: dict[str, str | None]) -> dict[str, Any]:
    """Overrides of a command line: those of ``--set`` and those that have an option of their own.

    Parameters
    ----------
    written : iterable of str
        Each as given to ``--set``; the last of a name counts.
    options : dict of str
        Texts by name of the field and option; None where the option was not given.

    Returns
    -------
    dict
        Values by dotted name.

    Raises
    ------
    MayflyError
        A text without ``=``, or a field that is given both ways.

    Examples
    --------
    >>> merged(["network.buffer=20"], {"seed": "3", "duration": None})
    {'network.buffer': 20, 'seed': 3}
    """
    fields = dict(parse_override(text) for text in written)
    given = dict(parse_override(f"{name}={text}") for name, text in options.items() if text is not None)
    if twice := sorted(fields.keys() & given.keys()):
        raise MayflyError(f"{twice[0]} is given twice: by --{twice[0]} and by --set")
    return fields | given


def parse_override(text: str) -> tuple[str, Any]:
    """Reads ``name=value`` as given to ``--set``.

    Parameters
    ----------
    text : str
        Dotted name, ``=``, and a TOML value; a word that is none counts as a string.

    Returns
    -------
    name : str
        Dotted name.
    value : object
        The value.

    Raises
    ------
    MayflyError
        There is no ``=``.

    Examples
    --------
    >>> parse_override("tcp.min_rto=1s"), parse_override("network.buffer=20")
    (('tcp.min_rto', '1s'), ('network.buffer', 20))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise MayflyError(f"--set {quantity.shown(text)}: must be written name=value, such as network.buffer=20")
    try:
        parsed = tomllib.loads(f"value = {value}")
    except (ValueError, RecursionError):
        parsed = {}
    # A second line would be another field.
    return name.strip(), parsed["value"] if len(parsed) == 1 else value.strip()
