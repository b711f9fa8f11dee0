"""Man pages from the commands themselves: ``python -m mayfly.cli.man DIR`` (``make man``).

A page says what ``--help`` says, since both read the same declarations; man(7) macros, one page per command.
"""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STATUS = (
    (0, "The command did what was asked."),
    (1, "A mistake in Mayfly itself; please report it."),
    (2, "Refused: one line on standard error names the value, the bound and what to do."),
    (130, "Interrupted; nothing half-written is left. After another signal, 128 and its number."),
)


def pages() -> dict[str, str]:
    """Text of every page.

    Returns
    -------
    dict of str
        By name of the file: ``mayfly-model-law.1``.

    Examples
    --------
    >>> found = pages()
    >>> found["mayfly.1"].splitlines()[0].split()[:3], "mayfly-whatif.1" in found
    (['.TH', 'MAYFLY', '1'], True)
    """
    import typer

    from mayfly.cli.app import app

    root = typer.main.get_command(app)
    return {f"{'-'.join(words)}.1": _page(words, command) for words, command in _tree(root, ("mayfly",))}


def _tree(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        yield from _tree(below, (*words, name))


def _page(words: tuple[str, ...], command: Any) -> str:
    from mayfly import __version__

    context = command.context_class(command, info_name=" ".join(words))
    about = [line.strip() for line in (command.help or "").strip().splitlines()]
    # The date is that of the build; packagers fix it with the variable of reproducible builds.
    day = time.strftime("%Y-%m-%d", time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    lines = [
        f'.TH {_dashed("-".join(words)).upper()} 1 "{day}" "mayfly {__version__}" "Mayfly"',
        ".SH NAME",
        f"{_dashed('-'.join(words))} \\- {_text(about[0].rstrip('.')) if about else 'Mayfly'}",
        ".SH SYNOPSIS",
        f".B {_dashed(' '.join(words))}",
        _text(" ".join(command.collect_usage_pieces(context))),
    ]
    if about:
        lines += [".SH DESCRIPTION", *(_text(line) if line else ".PP" for line in about)]
    options = [record for param in command.get_params(context) if (record := _record(param, context))]
    if options:
        lines.append(".SH OPTIONS")
    for name, meaning in options:
        lines += [".TP", f".B {_dashed(name)}", _text(meaning) or "\\&"]
    below = getattr(command, "commands", {})
    if below:
        lines.append(".SH COMMANDS")
    for name, sub in below.items():
        first = (sub.help or "").strip().partition("\n")[0]
        lines += [".TP", f".BR {_dashed('-'.join((*words, name)))} (1)", _text(first)]
    if command.epilog:
        lines += [".SH EXAMPLE", ".EX", _text(command.epilog.partition(":")[2].strip()), ".EE"]
    lines.append(".SH EXIT STATUS")
    for number, meaning in STATUS:
        lines += [".TP", f".B {number}", _text(meaning)]
    if len(words) > 1:
        lines += [".SH SEE ALSO", f".BR {_dashed('-'.join(words[:-1]))} (1)"]
    return "\n".join(lines) + "\n"


def _record(param: Any, context: Any) -> tuple[str, str] | None:
    record: tuple[str, str] | None = param.get_help_record(context)
    return record


def _text(line: str) -> str:
    """A line of running text, in which roff finds no request and no escape."""
    line = " ".join(line.split()).replace("\\", "\\e")
    return f"\\&{line}" if line[:1] in (".", "'") else line


def _dashed(line: str) -> str:
    """A line that is typed: its dashes are those of the keyboard."""
    return _text(line).replace("-", "\\-")


def write(folder: str | os.PathLike[str]) -> list[Path]:
    """Write every page into a folder, which is created when absent.

    Parameters
    ----------
    folder : path

    Returns
    -------
    list of pathlib.Path

    Raises
    ------
    MayflyError
        The folder cannot be written.
    """
    from mayfly.text.folder import filled

    found = pages()
    with filled(folder, found) as partial:
        for name, text in found.items():
            (partial / name).write_text(text, encoding="utf-8")
    return [Path(folder) / name for name in found]


if __name__ == "__main__":
    print(f"{len(write(sys.argv[1]))} pages in {sys.argv[1]}")
