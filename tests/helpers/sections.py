"""Sections of a comparison as text and HTML."""

from rich.console import Console

from mayfly.show.table import html
from mayfly.show.terminal import drawn


def html_of(section, summary):
    """What a section puts onto the page; a list of rows stands for a summary of them."""
    summary = summary if isinstance(summary, dict) else {"disciplines": summary}
    notes = "".join(section.notes(summary))
    return "".join(map(html, section.tables(summary))) + notes


def text_of(table, width=100):
    """A table in a terminal of some width."""
    console = Console(width=width)
    with console.capture() as capture:
        console.print(drawn(table))
    return capture.get()


def section_text(section, summary, width=100):
    """The tables of a section that a terminal gets."""
    summary = summary if isinstance(summary, dict) else {"disciplines": summary}
    return "".join(text_of(table, width) for table in section.tables(summary) if not table.page_only)
