"""The process around a command: it starts light, and whatever happens ends in one line and an exit status."""

import codecs
import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mayfly.errors import MayflyError, command

if TYPE_CHECKING:
    from mayfly.cli.budget import Budget

FAULT = 1
"""Exit status after a mistake in Mayfly itself."""

USAGE = 2
"""Exit status of every refusal."""

FAILED = 3
"""Exit status of a sweep whose runs all failed; its results are written."""

INTERRUPTED = 130
"""Exit status after an interrupt (Ctrl-C); after another signal, 128 and its number."""

_budgets: list["Budget"] = []
_standard_error: int | None = None

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_AGAIN_S = 0.25
"""Time after which an interrupt that was lost on its way is raised once more."""

_UNHURRIED = 400_000
"""Allocations between two collections: imports make hundreds of thousands of objects that all stay."""


def run(commands: Callable[[], Callable[..., Any]]) -> None:
    """Runs the command line given to the process, then exits.

    Parameters
    ----------
    commands : callable
        Returns the application of typer; called once the process is set up.
    """
    _start_light()
    as_json = any(argument == "--json" or argument.startswith("--json=") for argument in sys.argv[1:])
    received: list[int] = []
    try:
        _stop_once(received)
        status, message = _outcome(received, commands)
    except KeyboardInterrupt:
        status, message = INTERRUPTED, None
    finally:
        while _budgets:
            _budgets.pop().stop()
    # What is left to do is to say how it ended.
    signal.setitimer(signal.ITIMER_REAL, 0)
    if received or status == INTERRUPTED:
        status, message = 128 + (received or [signal.SIGINT])[0], "interrupted: nothing half-written was left"
    if status > 128:
        from mayfly.text.files import remove_unfinished

        # An interrupt between two steps of a `with` statement passes by what cleans up after it.
        remove_unfinished()
    status = _end(status, message, as_json)
    if status > 128:
        # Threads that prepare a run cannot be stopped, only left behind.
        os._exit(status)
    sys.exit(status)


def limit(memory: str | None, time: str | None) -> None:
    """Ends the command with one line when it takes more memory or time than it may.

    Parameters
    ----------
    memory : str, optional
        Such as ``8gb``; a share of the machine when not given.
    time : str, optional
        Such as ``10min``; no limit when not given.

    Raises
    ------
    MayflyError
        No such amount or time.
    """
    from mayfly.cli import budget
    from mayfly.limits import SHARE, limits, machine_bytes

    global _standard_error
    if _standard_error is None:
        _standard_error = os.dup(2)
    asked = None if memory is None else budget.parsed(memory)
    most = int(SHARE * machine_bytes()) if asked is None else asked
    most_s = None if time is None else budget.parsed_time(time)
    limits.asked_bytes = asked
    _budgets.append(budget.Budget(most, most_s, _end_at_once).start())


def _end_at_once(message: str) -> None:
    """Ends the process from whatever thread, as a refusal; what runs cannot be asked to stop."""
    from mayfly.text.files import remove_unfinished

    remove_unfinished()
    # Where polars reads, it is closed (`without_panics`).
    if _standard_error is not None:
        os.dup2(_standard_error, 2)
    as_json = any(argument == "--json" or argument.startswith("--json=") for argument in sys.argv[1:])
    os._exit(_end(USAGE, message, as_json))


def _start_light() -> None:
    """Saves start-up work nobody asked for; a user's own settings stand."""
    gc.set_threshold(_UNHURRIED)
    # Nothing here multiplies matrices: a pool of threads for it would only cost its start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Looking for plug-ins reads the metadata of every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
        # A locale that lacks a character must not end the command.
        getattr(sys, name).reconfigure(errors="mayfly")


_SPELT = {
    "─━═╌╴╶": "-",
    "│┃": "|",
    "┌┐└┘├┤┬┴┼": "+",
    "–—−": "-",
    "…": "...",
    "µμ": "u",
    "±": "+-",
    "×": "x",
    "→": "->",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "²": "^2",
    "ρ": "rho",
    "ø": "o",
    "“”": '"',
    "‘’": "'",
    "\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}": " ",
}
_ASCII = {sign: spelt for signs, spelt in _SPELT.items() for sign in signs}


def _in_ascii(error: UnicodeError) -> tuple[str | bytes, int]:
    """Spell what a locale has no character for, as ``codecs.register_error`` asks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(map(_spelt, signs)), error.end


def _spelt(sign: str) -> str:
    from unicodedata import normalize

    # Letters lose their accents.
    plain = _ASCII.get(sign) or normalize("NFKD", sign).encode("ascii", "ignore").decode()
    return plain or sign.encode("ascii", "backslashreplace").decode()


codecs.register_error("mayfly", _in_ascii)


def _stop_once(received: list[int]) -> None:
    """Lets the first signal, noted in the list, end the command; further ones must not disturb the cleaning up.

    The exception can be lost: libraries call Python from native code where an exception has nowhere to go (a
    destructor, a callback), and drop it. It is raised again until somebody handles it.
    """

    def stop(number: int, _: object) -> None:
        ignore_signals()
        received.append(number)
        signal.signal(signal.SIGALRM, again)
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S, _AGAIN_S)
        raise KeyboardInterrupt

    def again(_number: int, _frame: object) -> None:
        if not _is_interrupted(sys.exc_info()[1]):
            raise KeyboardInterrupt

    # Python shows an interrupt that does not get out of a callback or a destructor; the timer brings it again.
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _show_unraisable
    for name in _SIGNALS:
        # A shell starts background jobs with interrupts ignored: they stay so.
        if signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:
            signal.signal(getattr(signal, name), stop)


def _show_unraisable(unraisable: "sys.UnraisableHookArgs") -> None:
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def _is_interrupted(handled: BaseException | None) -> bool:
    """Whether the exception that is being handled, or one it came from, is an interrupt: cleaning up is under way."""
    while handled is not None and not isinstance(handled, KeyboardInterrupt):
        handled = handled.__context__
    return handled is not None


def ignore_signals() -> None:
    """Lets nothing stop what is left to do, which must be little."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for name in _SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_IGN)


def _outcome(received: list[int], commands: Callable[[], Callable[..., Any]]) -> tuple[int, str | None]:
    """Exit status of the command, and what to complain of."""
    import typer

    try:
        with command():
            status = commands()(prog_name="mayfly", standalone_mode=False) or 0
    except MayflyError as error:
        return USAGE, str(error)
    except MemoryError:
        return USAGE, "out of memory: fewer flows, disciplines or replications at a time"
    except typer.Abort:
        return INTERRUPTED, None
    except BrokenPipeError:
        # Who read standard output has seen enough.
        return 128 + signal.SIGPIPE, None
    except OSError as error:
        return USAGE, f"{error.filename or 'standard output'}: {error.strerror or error}"
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        if received:
            # Native code tells an interrupt as a failure of its own.
            return INTERRUPTED, None
        if type(error).__name__ == "NoArgsIsHelpError" and hasattr(error, "format_message"):
            # A group of commands without any: its help, as it stands.
            print(error.format_message(), file=sys.stderr)
            return USAGE, None
        # The library behind typer reports unknown options and missing arguments by exceptions of its own.
        return (USAGE, _usage(error, error.format_message())) if hasattr(error, "format_message") else _fault(error)
    return status, None


def _fault(error: BaseException) -> tuple[int, str]:
    """A mistake of ours, a panic of native code included: the trace helps whoever mends it."""
    import traceback

    traceback.print_exception(error)
    return FAULT, f"internal error: {type(error).__name__}: {error}; please report it with the lines above"


def _usage(error: BaseException, said: str) -> str:
    command = getattr(getattr(error, "ctx", None), "command_path", "mayfly")
    return f"{said.rstrip('.')}; `{command} --help` shows what there is"


def _end(status: int, message: str | None, as_json: bool) -> int:
    """Says how it ended; a standard output that takes nothing more changes the status."""
    line = None if message is None else one_line(message)
    try:
        if line is not None and as_json:
            print(json.dumps({"error": line}))
        sys.stdout.flush()
    except OSError as error:
        # Else the interpreter tries, and complains, once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if status == 0 and not isinstance(error, BrokenPipeError):
            status, line = USAGE, f"standard output: {error.strerror}"
    if line is not None:
        with contextlib.suppress(OSError):
            print(f"mayfly: {line}", file=sys.stderr)
    # All that is left lives until the process is gone: the interpreter need not look through it.
    gc.freeze()
    return status


def one_line(text: str) -> str:
    r"""Text on one line of a terminal.

    Parameters
    ----------
    text : str
        Whatever a user or a library wrote.

    Returns
    -------
    str
        Blanks joined; control characters escaped, so that no input moves the cursor.

    Examples
    --------
    >>> one_line("bad\nvalue \x1b[2J")
    'bad value \\x1b[2J'
    """
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in line)
