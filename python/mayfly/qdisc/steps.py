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


def perform(steps: Steps, held: int | None = None) -> None:
    """Runs commands until one fails.

    Parameters
    ----------
    steps : list of list of str
        In order.
    held : int, optional
        Descriptor of a lock that each of them inherits: it holds until they have ended, whatever becomes of who ran
        them.

    Raises
    ------
    MayflyError
        One failed: which, and the first line of what it said.
    """
    for step in steps:
        output(step, held)


def output(command: Sequence[str], held: int | None = None) -> str:
    """What a command prints.

    Parameters
    ----------
    command : sequence of str
        Program and arguments.
    held : int, optional
        Descriptor that it inherits.

    Returns
    -------
    str
        Its standard output.

    Raises
    ------
    MayflyError
        It failed, or is not there.
    """
    inherited = () if held is None else (held,)
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, pass_fds=inherited)
    except OSError as error:
        raise MayflyError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        lines = [line.strip() for line in (done.stderr + "\n" + done.stdout).splitlines() if line.strip()]
        first = next((line for line in lines if "rror" in line), lines[0] if lines else f"status {done.returncode}")
        raise MayflyError(f"{shlex.join(command)}: {first}")
    return done.stdout
