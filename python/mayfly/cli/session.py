"""One invocation of the command line: where output goes, and how it ends."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mayfly.errors import MayflyError

if TYPE_CHECKING:
    from mayfly.simulate.comparison import Comparison

USAGE = 2
INTERRUPTED = 130


def usage_error(message: str, arguments: Sequence[str]) -> int:
    """Says what was wrong: one line on standard error, and JSON on standard output when that was asked for.

    Parameters
    ----------
    message : str
        What was wrong.
    arguments : sequence of str
        The command line.

    Returns
    -------
    int
        Exit status.
    """
    _complain(message, "--json" in arguments)
    return USAGE


def _complain(message: str, as_json: bool) -> None:
    line = " ".join(message.split())
    if as_json:
        print(json.dumps({"error": line}))
    print(f"mayfly: {line}", file=sys.stderr)


class Session:
    """Turns errors into one line and an exit status, and results into a table or JSON.

    Parameters
    ----------
    as_json : bool
        Standard output gets one JSON document, whatever the outcome.
    quiet : bool
        No progress bar.
    """

    def __init__(self, as_json: bool, quiet: bool):
        self.as_json = as_json
        self.quiet = quiet

    def __enter__(self) -> "Session":
        """Begins the session."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        """Ends it: refusals with status 2, interrupts with 130."""
        if isinstance(error, MayflyError):
            _complain(str(error), self.as_json)
            raise typer.Exit(USAGE) from None
        if isinstance(error, KeyboardInterrupt):
            _complain("interrupted; no results were written", self.as_json)
            raise typer.Exit(INTERRUPTED) from None
        if isinstance(error, MemoryError):
            _complain("out of memory: fewer flows, disciplines or replications at a time", self.as_json)
            raise typer.Exit(USAGE) from None

    @contextmanager
    def progress(self, title: str) -> Iterator[Callable[[float], None] | None]:
        """A progress bar on standard error while it is a terminal.

        Parameters
        ----------
        title : str
            Shown before the bar.

        Yields
        ------
        callable or None
            To be called with the fraction done.
        """
        if self.quiet or not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
        console = Console(stderr=True)
        with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True) as bar:
            task = bar.add_task(title, total=1.0)
            yield lambda fraction: bar.update(task, completed=fraction)

    def finish(self, result: "Comparison", out: Path, report: bool = True, single: bool = False) -> None:
        """Writes the files and prints the table, or the summary as JSON.

        Parameters
        ----------
        result : Comparison
            What to show.
        out : path
            Folder of the files.
        report : bool
            Whether the HTML report is among them.
        single : bool
            The JSON document also holds the figures of the only discipline at its top level.
        """
        files = result.write(out, report=report)
        if self.as_json:
            only = result.summary["disciplines"][0] if single else {}
            self.print_json({**only, **result.summary, "files": files})
            return
        self.print(result.table())
        for sentence in result.summary.get("answer", []):
            self.print(sentence)
        for note in result.summary.get("notes", []):
            self.print(f"note: {note}")
        self.print("report: " + files["report"] if report else "records: " + files["flows"])

    def print(self, what: object) -> None:
        """Prints to standard output, as wide as the terminal.

        Parameters
        ----------
        what : object
            Text or something rich can draw.
        """
        from rich.console import Console

        Console(highlight=False).print(what, markup=False, soft_wrap=False)

    def print_json(self, document: dict[str, Any]) -> None:
        """Prints the JSON document.

        Parameters
        ----------
        document : dict
            No NaN and no infinity.
        """
        print(json.dumps(document, allow_nan=False))
