"""One invocation of the command line: where its output goes."""

import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mayfly.cli.process import ignore_signals
from mayfly.limits import limits
from mayfly.show import plain
from mayfly.show.table import Table
from mayfly.text.readable import harmless

if TYPE_CHECKING:
    from mayfly.comparison.comparison import Comparison
    from mayfly.comparison.plain import PlainComparison


class Session:
    """Results go into a folder, and to standard output as a table or as JSON; progress goes to standard error.

    Parameters
    ----------
    as_json : bool
        Standard output gets one JSON document and nothing else.
    quiet : bool
        No progress bar.
    out : path, optional
        Folder of the files, of a command that writes some.
    assets : str
        Where its reports have the plot library: ``inline`` or ``shared``.

    Raises
    ------
    MayflyError
        The folder cannot be written, or no such ``assets``: told before the work, not after.
    """

    def __init__(self, as_json: bool, quiet: bool, out: Path | None = None, assets: str = "inline"):
        self.as_json = as_json
        self.quiet = quiet
        self.out = out
        self.assets = assets
        if assets != "inline":
            from mayfly.show.assets import refuse_unknown

            refuse_unknown(assets)
        if out is not None:
            from mayfly.text.folder import refuse_unwritable

            refuse_unwritable(out)

    def early(self, sentence: str) -> None:
        """Say something on standard error before the long part of the work, unless ``quiet``."""
        if not self.quiet:
            print(f"mayfly: {harmless(sentence)}", file=sys.stderr, flush=True)

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
        from rich.markup import escape
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
        console = Console(stderr=True)
        with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True) as bar:
            task = bar.add_task(escape(title), total=1.0)
            reading = bar.add_task("", total=None, visible=False)

            def told(text: str, fraction: float | None) -> None:
                bar.update(
                    reading,
                    description=escape(f"  {text}"),
                    total=None if fraction is None else 1.0,
                    completed=fraction or 0.0,
                    visible=bool(text),
                )

            limits.told = told
            try:
                yield lambda fraction: bar.update(task, completed=fraction)
            finally:
                limits.told = None

    def placed(self, files: dict[str, str]) -> dict[str, str]:
        """Takes the plot library out of the reports among the files, with ``--assets shared``.

        Parameters
        ----------
        files : dict of str
            Paths of what was written.

        Returns
        -------
        dict of str
            With the path of the library as ``assets``, where a report has it outside now.

        Raises
        ------
        MayflyError
            The folder cannot be written.
        """
        if self.assets != "shared":
            return files
        from mayfly.show.assets import share

        shared = [share(path) for path in files.values() if path.endswith(".html")]
        return files | next(({"assets": str(path)} for path in shared if path is not None), {})

    def finish(
        self,
        result: "Comparison | PlainComparison",
        report: bool = True,
        single: bool = False,
        columns: bool = False,
        details: bool = False,
    ) -> None:
        """Writes the files and prints the table, or the summary as JSON.

        Parameters
        ----------
        result : Comparison or PlainComparison
            What to show; a plain one has no report.
        report : bool
            Whether the HTML report is among the files.
        single : bool
            The JSON document also holds the figures of the only discipline at its top level.
        columns : bool
            All columns of the tables; else those of the flow table on a wide terminal only.
        details : bool
            Means of whole connections, too, where they hold the think times of users.

        Raises
        ------
        MayflyError
            The folder cannot be written.
        """
        # A command that finishes with files has named their folder.
        assert self.out is not None
        files = self.placed(result.write(self.out, report=report))
        if self.as_json:
            only: Mapping[str, Any] = result.summary["disciplines"][0] if single else {}
            self.print_json({**only, **result.summary, "files": files})
            return
        from mayfly.comparison.overview import WIDE, legend, overview_table, users_table
        from mayfly.comparison.sections import SECTIONS
        from mayfly.comparison.text import answer_lines, further_notes, further_sentences
        from mayfly.comparison.user_metrics import think_times

        for line in answer_lines(result.summary):
            self.print(line)
        if (users := users_table(result.summary)) is not None:
            self.print(users)
        means = details or not think_times(result.summary)
        self.print(overview_table(result.summary, columns or self.width >= WIDE, means))
        for section in SECTIONS:
            for table in section.tables(result.summary):
                if not table.page_only or (details and section.detail):
                    self.print(table)
        for sentence in (*legend(result.summary, means), *further_sentences(result.summary, files["summary"])):
            self.print(sentence)
        notes = [note for section in SECTIONS for note in section.notes(result.summary)]
        for note in (*further_notes(result.summary), *notes):
            self.print(f"note: {note}")
        self.print("report: " + files["report"] if report else "records: " + files["flows"])

    def tell(self, found: Any, more: dict[str, Any] | None = None, lines: Sequence[object] = ()) -> None:
        """Prints the tables and sentences of an answer, or its document as JSON.

        Parameters
        ----------
        found : object
            With ``document()``, ``sentences()``, and ``tables()`` or ``table()``; ``headlines()`` go in the place of
            the sentences where there are any, and those of ``leading()`` stand before the tables.
        more : dict, optional
            What the document of the command has beside that of the answer.
        lines : sequence
            Text and tables printed after the sentences, where there is no JSON.
        """
        if self.as_json:
            self.print_json(found.document() | (more or {}))
            return
        tables = found.tables() if hasattr(found, "tables") else [found.table()]
        said = found.headlines() if hasattr(found, "headlines") else found.sentences()
        first = found.leading() if hasattr(found, "leading") else []
        for part in (*first, *tables, *(sentence for sentence in said if sentence not in first), *lines):
            if not getattr(part, "page_only", False):
                self.print(part)

    @property
    def width(self) -> int:
        """Columns of the terminal; of a file or a pipe those of the terminal that the process has elsewhere, or 80."""
        if plain.is_plain():
            return plain.width()
        from rich.console import Console

        return Console().width

    def print(self, what: object) -> None:
        """Prints to standard output, as wide as the terminal; to a file or a pipe a sentence is one line.

        Parameters
        ----------
        what : object
            Text, a table, or something rich can draw.
        """
        if plain.is_plain():
            whole = plain.drawn(what, self.width) if isinstance(what, Table) else None
            if whole is not None or isinstance(what, str):
                print(harmless(str(what).expandtabs() if whole is None else whole[:-1]), flush=True)
                return
        from mayfly.show.terminal import PlainConsole, drawn

        if isinstance(what, Table):
            what = drawn(what)
        console = PlainConsole(highlight=False, emoji=False)
        if isinstance(what, str) and sys.stdout.isatty():
            # Words stay whole, long paths among them.
            fit = textwrap.TextWrapper(console.width, break_long_words=False, break_on_hyphens=False)
            what = "\n".join(fit.fill(line) for line in what.splitlines())
        console.print(what, markup=False, soft_wrap=isinstance(what, str))

    def say(self, text: str) -> None:
        """Tell on standard error what happens now, unless that was not wanted.

        Parameters
        ----------
        text : str
            One line.
        """
        if not self.quiet:
            print(harmless(text), file=sys.stderr, flush=True)

    def line(self, document: dict[str, Any], text: str) -> None:
        """One of many lines that come over time, seen at once by whoever reads them; JSON has a document a line.

        Parameters
        ----------
        document : dict
            No NaN and no infinity.
        text : str
            The same in words.
        """
        print(json.dumps(document, allow_nan=False) if self.as_json else harmless(text), flush=True)

    def print_json(self, document: dict[str, Any]) -> None:
        """Prints the JSON document.

        Parameters
        ----------
        document : dict
            No NaN and no infinity.
        """
        text = json.dumps(document, allow_nan=False)
        # An interrupt would print a second document.
        ignore_signals()
        print(text)
