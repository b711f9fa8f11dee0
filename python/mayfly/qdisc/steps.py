"""Commands of other programs, in order: shown, or run until one fails."""

import shlex
import subprocess
from collections.abc import Sequence

from mayfly.errors import MayflyError

Steps = list[list[str]]
"""Commands with their arguments."""


def shown(steps: Steps) -> str:
    """The commands as a shell takes them, one a line.

    Examples
    --------
    >>> shown([["tc", "qdisc", "add", "dev", "my link", "root", "efd"]])
    "tc qdisc add dev 'my link' root efd"
    """
    return "\n".join(shlex.join(step) for step in steps)


def perform(steps: Steps, undo: Steps | None = None) -> None:
    """Runs commands until one fails.

    Parameters
    ----------
    steps : list of list of str
        In order.
    undo : list of list of str, optional
        Run after a failure of any step but the first, whatever becomes of them.

    Raises
    ------
    MayflyError
        One failed: which, and the first line of what it said.
    """
    for number, step in enumerate(steps):
        try:
            output(step)
        except MayflyError:
            for command in undo or [] if number else []:
                subprocess.run(command, capture_output=True)
            raise


def output(command: Sequence[str]) -> str:
    """What a command prints.

    Parameters
    ----------
    command : sequence of str
        Program and arguments.

    Returns
    -------
    str
        Its standard output.

    Raises
    ------
    MayflyError
        It failed, or is not there.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise MayflyError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        lines = [line.strip() for line in (done.stderr + "\n" + done.stdout).splitlines() if line.strip()]
        first = next((line for line in lines if "rror" in line), lines[0] if lines else f"status {done.returncode}")
        raise MayflyError(f"{shlex.join(command)}: {first}")
    return done.stdout
