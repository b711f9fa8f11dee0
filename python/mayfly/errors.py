"""The one base of every error Mayfly raises on purpose, and how its messages name what was given."""

from collections.abc import Iterator
from contextlib import contextmanager

_commands = 0
"""Commands that run in this process."""


class MayflyError(Exception):
    """Bad input, told in one line that names the value and the bound; the command line exits with status 2.

    Examples
    --------
    >>> str(MayflyError("load = -1: must be above 0"))
    'load = -1: must be above 0'
    """


@contextmanager
def command() -> Iterator[None]:
    """Messages name options of the command line meanwhile."""
    global _commands
    _commands += 1
    try:
        yield
    finally:
        _commands -= 1


def given(option: str, argument: str | None = None) -> str:
    """What a message calls something that was given: the option of a command, or the argument of a function.

    Parameters
    ----------
    option : str
        Such as ``--link-trace``.
    argument : str, optional
        Of the function; the option's name as Python writes it when not given.

    Returns
    -------
    str

    Examples
    --------
    >>> given("--link-trace"), given("--set", "overrides:")
    ('link_trace', 'overrides:')
    >>> with command():
    ...     given("--link-trace")
    '--link-trace'
    """
    if _commands:
        return option
    return argument if argument is not None else option.lstrip("-").replace("-", "_")
