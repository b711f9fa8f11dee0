"""Tables that benchmarks put into a page of the documentation, between comments that name them."""

import sys
from pathlib import Path

from mayfly.text.files import complete


def put(page: Path, name: str, part: str) -> None:
    """Puts a part into its place; at the end of a page that has none.

    Parameters
    ----------
    page : Path
    name : str
        Of the benchmark, such as ``benchmarks/one_guest.py``.
    part : str
        Markdown.
    """
    begin, end = (f"<!-- {name}: {word} -->" for word in ("begin", "end"))
    if not page.exists():
        sys.exit(f"{page}: not there; the command that makes the rest of it goes first")
    whole = page.read_text(encoding="utf-8")
    if begin not in whole:
        whole = f"{whole.rstrip()}\n\n{begin}\n{end}\n"
    before, rest = whole.split(begin)
    with complete(page) as partial:
        partial.write_text(f"{before}{begin}\n\n{part}\n\n{end}{rest.split(end)[1]}", encoding="utf-8")
