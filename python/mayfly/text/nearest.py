"""The known name that is nearest to a mistyped one."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """A question that names the nearest known name.

    Parameters
    ----------
    name : str
        What was given.
    known : iterable of str
        What could have been given.
    cutoff : float
        Likeness from 0 to 1 (``difflib``) below which a name is not suggested.

    Returns
    -------
    str
        ``did you mean NAME?``, or nothing where no known name is near.

    Examples
    --------
    >>> did_you_mean("weibul", ["lognormal", "weibull"])
    'did you mean weibull?'
    >>> did_you_mean("weibul", ["fifo"])
    ''
    """
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"did you mean {near[0]}?" if near else ""


def hint(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The same question, to be put behind a message that already says what is expected.

    Examples
    --------
    >>> hint("fifi", ["fifo"]), hint("red", ["fifo"])
    ('; did you mean fifo?', '')
    """
    question = did_you_mean(name, known, cutoff=cutoff)
    return f"; {question}" if question else ""


def expected(name: str, known: Iterable[str]) -> str:
    """The nearest name, or all of them where none is near.

    Examples
    --------
    >>> expected("lass", ["fcfs", "las"]), expected("x", ["fcfs", "las"])
    ('did you mean las?', 'must be one of fcfs, las')
    """
    known = list(known)
    return did_you_mean(name, known) or f"must be one of {', '.join(known)}"
