"""Tables with several lines per discipline, for terminal and page."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from mayfly.show.terminal import HidingTable, empty_table


class Line(NamedTuple):
    """A line: discipline (empty but in its first), what the line is of, and the cells."""

    label: str
    name: str
    cells: Sequence[str]


def lines_table(title: str, name: str, heads: Sequence[str], lines: Sequence[Line]) -> Table:
    """The lines for the terminal.

    Parameters
    ----------
    title, name : str
        Of the table, and of its second column.
    heads : sequence of str
        Of the cells.
    lines : sequence of Line
        In order.

    Returns
    -------
    rich.table.Table
        Columns without room are left out.
    """
    table = empty_table(Text(title), HidingTable)
    table.add_column(Text("discipline"), overflow="fold", max_width=20)
    table.add_column(Text(name), overflow="fold", max_width=20)
    for head in heads:
        table.add_column(Text(head, justify="right"), justify="right", no_wrap=True)
    for line in lines:
        table.add_row(Text(line.label), Text(line.name), *map(Text, line.cells))
    return table


def lines_html(title: str, name: str, heads: Sequence[str], lines: Sequence[Line]) -> str:
    """The lines as a section of the report.

    Parameters
    ----------
    title, name, heads, lines
        As for :func:`lines_table`.

    Returns
    -------
    str
        HTML.
    """
    body = [tuple(map(escape, (line.label, line.name, *line.cells))) for line in lines]
    titles = tuple(escape(head).replace("\n", "<br>") for head in ("discipline", name, *heads))
    return f"<h2>{escape(title)}</h2>" + html_rows(titles, body)


def html_rows(heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table of the report.

    Parameters
    ----------
    heads : sequence of str
        HTML.
    body : sequence of sequence of str
        HTML of the cells of each row, its head first.

    Returns
    -------
    str
        HTML.
    """
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for first, *cells in body
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
