"""The table that everything shown is put into: heads and cells, before a terminal, a page or Markdown draws it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal


@dataclass(frozen=True)
class Cell:
    """One figure, whether it is good, bad or neither, and what stands below it in fainter letters."""

    text: str
    good: bool | None = None
    below: str = ""

    @property
    def whole(self) -> str:
        """All lines of the cell."""
        return f"{self.text}\n{self.below}" if self.below else self.text


Row = Sequence[Cell | str]

LABEL, NAMES = 26, 20
"""Width of the names of disciplines in a terminal, and of each of several names of a row, in characters."""


@dataclass(frozen=True)
class Table:
    """Heads and rows as text.

    Parameters
    ----------
    title : str
        Stands above the table.
    heads : tuple of str
        One of each column; a line break where the head may be broken.
    rows : tuple of (str or Row)
        Cells of a row, the names of what it is about first. A string alone is a heading over the rows that follow.
    names : int
        Columns, from the left, that say what a row is about.
    notes : tuple of str
        Sentences below the table, on a page.
    narrow : {"hide", "fold"}
        What a terminal too narrow for the table gets: the first columns, or the table in several parts.
    page_only : bool
        Whether the table is too detailed for a terminal.
    folded : str
        What the reader of a page clicks on to see the table; empty when it is always there.
    widest : int, optional
        Characters of a line of a name in a terminal, which folds longer ones; `LABEL` or `NAMES` when not given, 0
        where names stay whole.
    padded : bool
        Whether a terminal puts a blank after each cell, besides the one between two columns.
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[str | Row, ...]
    names: int = 1
    notes: tuple[str, ...] = ()
    narrow: Literal["hide", "fold"] = "hide"
    page_only: bool = False
    folded: str = ""
    widest: int | None = None
    padded: bool = True

    @property
    def folds_at(self) -> int | None:
        """Characters of a line of a name in a terminal; None where names stay whole."""
        if self.widest is None:
            return LABEL if self.names == 1 else NAMES
        return self.widest or None

    def cells(self) -> Iterator[str | list[Cell]]:
        """The rows with a :class:`Cell` for each text; headings as they are."""
        for row in self.rows:
            yield row if isinstance(row, str) else [cell if isinstance(cell, Cell) else Cell(cell) for cell in row]


_CLASSES = {True: ' class="good"', False: ' class="bad"', None: ""}


def html(table: Table, level: int = 2) -> str:
    """Draw a table as a section of a page.

    Parameters
    ----------
    table : Table
        What to draw.
    level : int
        Of its heading: 2 for ``h2``.

    Returns
    -------
    str
        Heading, a table that scrolls by itself, and the notes; nothing in it is markup of the caller's.

    Examples
    --------
    >>> html(Table("Loss", ("discipline", "lost"), (("fifo", Cell("3 %", False)),))).partition("<tbody>")[2][:67]
    '<tr><th scope="row">fifo</th><td class="bad">3 %</td></tr></tbody><'
    """
    heads = "".join(f'<th scope="col">{escape(head).replace(chr(10), "<br>")}</th>' for head in table.heads)
    lines = []
    for row in table.cells():
        if isinstance(row, str):
            title = f'<th colspan="{len(table.heads)}" scope="rowgroup">{escape(row)}</th>'
            lines.append(f'<tr class="family">{title}</tr>')
            continue
        first, *cells = row
        marked = "".join(f"<td{_CLASSES[cell.good]}>{escape(cell.whole)}</td>" for cell in cells)
        lines.append(f'<tr><th scope="row">{escape(first.text)}</th>{marked}</tr>')
    notes = "".join(f'<p class="soft">{escape(note)}</p>' for note in table.notes)
    drawn = f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    text = f'<h{level}>{escape(table.title)}</h{level}><div class="scroll">{drawn}</div>{notes}'
    return f"<details><summary>{escape(table.folded)}</summary>{text}</details>" if table.folded else text


def markdown(table: Table, code: bool = True) -> str:
    """Draw a table as Markdown, without title and notes; what is good is bold.

    Parameters
    ----------
    table : Table
        What to draw.
    code : bool
        Whether the first cell of a row is a name, and not words.

    Returns
    -------
    str
        Lines of a Markdown table; headings of rows are left out.
    """
    heads = [head.replace("-\n", "").replace("\n", " ") for head in table.heads]
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    for row in table.cells():
        if isinstance(row, str):
            continue
        first, *cells = row
        texts = [f"**{cell.text}**" if cell.good else cell.text for cell in cells]
        lines.append("| " + " | ".join([f"`{first.text}`" if code else first.text, *texts]) + " |")
    return "\n".join(lines)
