"""Tables for a file or a pipe, without the library that draws for terminals.

Principle: where a table fits and nothing is coloured, its lines are its cells side by side. The library takes longer to
import and to draw them than a short run takes. :func:`drawn` gives what :func:`mayfly.show.terminal.drawn` would, to
the letter, or None where it takes more: names that fold, columns without room, letters of another width than one.
"""

import os
import sys
from collections.abc import Sequence

from mayfly.show.table import Table

_NARROW = "–—…≤≥≈→←↔“”‘’ρ−"
"""One column wide, beyond those of :func:`_is_narrow`."""


def is_plain() -> bool:
    """Whether standard output is no terminal, nor to be treated as one, and takes all signs."""
    forced = any(os.environ.get(name) for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))
    encoding = (sys.stdout.encoding or "").lower()
    return not forced and encoding.startswith("utf") and not sys.stdout.isatty()


def width() -> int:
    """Columns of standard output: of the terminal that the process has anywhere, or ``COLUMNS``, else 80."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdigit() and int(asked):
        return int(asked)
    for stream in range(3):
        try:
            if found := os.get_terminal_size(stream).columns:
                return found
        except OSError:
            continue
    return 80


def drawn(table: Table, most: int) -> str | None:
    """Draw a table.

    Parameters
    ----------
    table : Table
        What to draw.
    most : int
        Columns that there are.

    Returns
    -------
    str or None
        Lines, each with its line break; None where the table does not fit as it is.
    """
    rows = [
        [row, *[""] * (len(table.heads) - 1)] if isinstance(row, str) else [cell.whole for cell in row]
        for row in table.cells()
    ]
    texts = [list(table.heads), *rows]
    if not all(map(_is_narrow, [table.title, *(text for row in texts for text in row)])):
        return None
    cells = [[text.split("\n") for text in row] for row in texts]
    if any(line.endswith(" ") for row in cells for cell in row for line in cell):
        # The library gives such a line more room in some tables than in others.
        return None
    after = 1 if table.padded else 0
    widths = [max(len(line) for row in cells for line in row[at]) for at in range(len(table.heads))]
    whole = sum(widths) + len(widths) * after + len(widths) - 1
    folds_at = table.folds_at
    if whole > most or len(table.title) > whole or (folds_at and max(widths[: table.names]) > folds_at):
        return None
    lines = [table.title.ljust(whole)] if table.title else []
    for at, row in enumerate(cells):
        lines += _lines(row, widths, table.names, " " * after, at == 0)
        if at == 0:
            lines.append("─" * whole)
    return "".join(f"{line}\n" for line in lines)


def _lines(row: Sequence[Sequence[str]], widths: Sequence[int], names: int, after: str, is_head: bool) -> list[str]:
    """The lines of a row; heads stand at the bottom, cells at the top."""
    height = max(map(len, row))
    found = []
    for at in range(height):
        parts = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            line = at - (height - len(cell)) if is_head else at
            text = cell[line] if 0 <= line < len(cell) else ""
            parts.append((text.ljust(width) if column < names else text.rjust(width)) + after)
        found.append(" ".join(parts))
    return found


def _is_narrow(text: str) -> bool:
    """Whether each letter takes one column."""
    plain = text.replace("\n", "")
    return (plain.isascii() and plain.isprintable()) or all(_one_wide(letter) for letter in plain)


def _one_wide(letter: str) -> bool:
    # From U+0300 on there are letters that combine, and wide ones.
    return letter.isprintable() and (letter < "\u0300" or letter in _NARROW)
