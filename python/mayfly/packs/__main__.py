"""``python -m mayfly.packs PAGE``: runs the pack about gaming and fills the blocks of its page."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from mayfly.errors import MayflyError
from mayfly.packs.gaming import gaming
from mayfly.packs.gaming_page import VARIANTS, filled_page
from mayfly.text.files import complete


def main(
    page: Annotated[Path, typer.Argument(help="Markdown file with blocks, such as docs/how-to/gaming.md")],
    disciplines: Annotated[str, typer.Option("--disciplines", "-d", help="as of `mayfly gaming`")] = "all",
    replications: Annotated[int, typer.Option("--replications", "-n", help="runs of each case, with seeds from 1")] = 3,
    duration: Annotated[str | None, typer.Option(help="end of each run")] = None,
) -> None:
    """Fill the blocks of a page with figures measured now."""
    try:
        text = page.read_text(encoding="utf-8")
        runs: dict[str, Any] = {"duration": duration, "replications": replications, "progress": _told}
        variants = gaming(VARIANTS, ["spaced", "split"], **runs)
        text = filled_page(text, gaming(disciplines, **runs), variants)
    except (MayflyError, OSError) as error:
        typer.echo(f"mayfly.packs: {error}", err=True)
        raise typer.Exit(2) from None
    with complete(page) as partial:
        partial.write_text(text, encoding="utf-8")


def _told(fraction: float) -> None:
    if sys.stderr.isatty():
        typer.echo(f"\r{100 * fraction:3.0f} %", nl=False, err=True)


if __name__ == "__main__":
    typer.run(main)
