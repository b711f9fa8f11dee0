"""``python -m mayfly_papers [ID] [--out FILE] [--figures DIR]``: runs declared claims, or draws the figures.

``python -m mayfly_papers all --publish docs`` runs everything and writes what the documents say of it.
``python -m mayfly_papers --judge docs`` runs nothing: it writes anew what follows from the rows of the last full run.
"""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.text.files import complete
from mayfly_papers.pages import PAGES, Page, figures, markdown


def main(
    item: Annotated[str, typer.Argument(help="which page")] = PAGES[0].id,
    out: Annotated[Path | None, typer.Option(help="file to write; standard output when not given")] = None,
    folder: Annotated[
        Path | None, typer.Option("--figures", help="draw the figures into ID.html there instead")
    ] = None,
    docs: Annotated[
        Path | None, typer.Option("--publish", help="write report, pages and the table of the README beside it")
    ] = None,
    judged: Annotated[
        Path | None, typer.Option("--judge", help="write anew what follows from the summary in there, without a run")
    ] = None,
) -> None:
    """Run declared claims and write their page, or draw their figures."""
    if judged is not None:
        judge_again(judged)
        return
    if docs is not None:
        publish_all(item, docs)
        return
    known = {declared.id: declared for declared in PAGES}
    if item not in known:
        refuse(f"ID = {item}: must be one of {', '.join(known)}")
    if folder is not None:
        draw(known[item], folder)
        return
    text = markdown(known[item])
    if out is None:
        typer.echo(text, nl=False)
        return
    write(out, text)


def publish_all(item: str, docs: Path) -> None:
    """Run everything and write it into the documents."""
    from mayfly.errors import MayflyError
    from mayfly_papers.declare.measured import KEPT, forget
    from mayfly_papers.report.published import publish
    from mayfly_papers.report.reproduce import reproduce

    try:
        keep = docs / "_build" / KEPT
        found = reproduce([item], keep=keep, progress=lambda share: typer.echo(f"\r{share:.0%}", nl=False, err=True))
        written = publish(found, docs, docs.parent / "README.md")
        forget(keep)
    except MayflyError as error:
        refuse(str(error))
    typer.echo("\n".join([*found.sentences(), *map(str, written)]))


def judge_again(docs: Path) -> None:
    """Write what follows from the rows of the last full reproduction."""
    from mayfly.errors import MayflyError
    from mayfly_papers.report.published import judge

    try:
        written = judge(docs, docs.parent / "README.md")
    except MayflyError as error:
        refuse(str(error))
    typer.echo("\n".join(map(str, written)))


def draw(item: Page, folder: Path) -> None:
    """Write the figures of an item."""
    if not item.figures:
        drawn = ", ".join(declared.id for declared in PAGES if declared.figures)
        refuse(f"ID = {item.id}: has no figures; must be one of {drawn}")
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / f"{item.id}.html", figures(item))


def write(file: Path, text: str) -> None:
    """Write a file that is never half there."""
    with complete(file) as partial:
        partial.write_text(text, encoding="utf-8")


def refuse(reason: str) -> None:
    """End with one line and status 2."""
    typer.echo(reason, err=True)
    raise typer.Exit(2)


if __name__ == "__main__":
    typer.run(main)
