"""``python -m mayfly.papers [ID] [--out FILE]``: runs declared claims and writes their Markdown page."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.papers import ITEMS, markdown


def main(
    item: Annotated[str, typer.Argument(help="which page")] = ITEMS[0].id,
    out: Annotated[Path | None, typer.Option(help="file to write; standard output when not given")] = None,
) -> None:
    """Run declared claims and write their page."""
    known = {declared.id: declared for declared in ITEMS}
    if item not in known:
        typer.echo(f"ID = {item}: must be one of {', '.join(known)}", err=True)
        raise typer.Exit(2)
    text = markdown(known[item])
    if out is None:
        typer.echo(text, nl=False)
        return
    partial = out.with_name(out.name + ".part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(out)


if __name__ == "__main__":
    typer.run(main)
