"""The tables of options of the kernel's queue disciplines, C macros, as rows: see table.h next to this file."""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SIZES = {"WORD": 1, "FLAG": 1, "BARE_WORD": 1, "TIME": 8, "TIME_OR_NEVER": 8, "DURATION": 8, "LIMIT_TIME": 8, "RATE": 8}
"""Bytes of an attribute by kind, where they are not four."""
NO_NUMBER = ("OTHER", "PRESENT")
_BEGIN = re.compile(r"#define MF_\w+_OPTIONS\(FIELD, OWN\)(.*?)\n\n", re.DOTALL)
_PIECE = re.compile(
    r"/\* (?P<page>\|.*?\|) \*/|\b(?:FIELD|OWN)\((?P<columns>(?:\([^()]*\)|[^()\"]|\"[^\"]*\")*)\)", re.DOTALL
)


@dataclass(frozen=True)
class Row:
    """An attribute: its name (``LIMIT``), its number, its size in bytes, 0 where it is no number.

    `option` is the option that it is, as tc names it; `page` are lines of the table on its page that stand before it.
    """

    name: str
    number: int
    size: int
    option: str
    page: tuple[str, ...]


def ids() -> list[str]:
    """Queue disciplines that have a table."""
    return sorted(file.stem for file in FOLDER.glob("*.h") if file.stem != "table")


def rows(id: str, folder: Path = FOLDER) -> list[Row]:
    """Options of a queue discipline, in the order of its table.

    Raises
    ------
    ValueError
        The file has no table, or text that is no row.
    """
    text = (folder / f"{id}.h").read_text(encoding="utf-8")
    table = _BEGIN.search(text)
    if not table:
        raise ValueError(f"options/{id}.h: must have a table, '#define MF_{id.upper()}_OPTIONS(FIELD, OWN)'")
    body = table[1].replace("\\\n", "\n")
    if rest := _PIECE.sub("", body).replace("\\", "").strip():
        raise ValueError(f"options/{id}.h: must be a row or a line of the page, not {rest.splitlines()[0]}")
    wide = "/* All attributes are u64. */" in text
    found, page = [], []
    for piece in _PIECE.finditer(body):
        if piece["page"]:
            page.append(piece["page"])
            continue
        attribute, number, option, kind = (column.strip() for column in piece["columns"].split(",")[:4])
        size = 0 if kind in NO_NUMBER else 8 if wide else SIZES.get(kind, 4)
        name = attribute.removeprefix(f"TCA_{id.upper()}_")
        found.append(Row(name, int(number), size, option, tuple(page)))
        page = []
    return found


def page(id: str) -> list[str]:
    """The table of options on the page of a queue discipline, in lines of Markdown."""
    lines = [line for row in rows(id) for line in row.page]
    return ["| option | meaning | default |", "|---|---|---|", *lines]
