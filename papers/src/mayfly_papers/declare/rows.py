"""Rows in the forms that claims share."""

from collections.abc import Callable

import numpy as np

from mayfly_papers.declare.declaration import Printed, Row, Runs, Values

Quantity = Callable[[Runs], Values]
"""Runs to one number per replication."""


def quantity(experiment: str, discipline: str, measure: str) -> Quantity:
    """A measure under one discipline.

    Parameters
    ----------
    experiment, discipline, measure : str
        As declared.

    Returns
    -------
    callable
        Runs to values.
    """
    return lambda runs: runs.values(experiment, discipline, measure)


def paired(runs: Runs, *quantities: Quantity) -> list[Values]:
    """Quantities in the replications that all of them have.

    Parameters
    ----------
    runs : Runs
        Of experiments with different numbers of replications.
    *quantities : callable
        What to take from them.

    Returns
    -------
    list of ndarray, each of shape ``(n_common,)``
        In the order given.
    """
    values = [own(runs) for own in quantities]
    common = min(own.size for own in values)
    return [own[:common] for own in values]


def ratio(over: Quantity, under: Quantity) -> Quantity:
    """One quantity over another, in the replications that both have."""

    def of_runs(runs: Runs) -> Values:
        upper, lower = paired(runs, over, under)
        return upper / lower

    return of_runs


def one_run_deviation(values: Values) -> float:
    """Standard deviation between single runs: differences below it do not show in a paper that ran once."""
    return float(values.std(ddof=1))


def below(
    name: str,
    lesser: Quantity,
    greater: Quantity,
    unit: str = "",
    direction: str = "",
    logarithms: bool = True,
    **given,
) -> Row:
    """Row whose direction is ``lesser < greater``; ours is ``lesser``.

    Parameters
    ----------
    name : str
        What is compared.
    lesser, greater : callable
        Quantities.
    unit, direction : str
        As in `Row`.
    logarithms : bool
        Compare logarithms, of quantities above 0; otherwise differences.
    **given
        ``printed``.

    Returns
    -------
    Row
        The row.
    """

    def margin(runs: Runs) -> Values:
        more, less = paired(runs, greater, lesser)
        # A quantity of 0, as short runs may have, gives a margin that is refused by name.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(more / less) if logarithms else more - less

    return Row(name, lesser, unit, margin=margin, direction=direction, **given)


def is_threshold(bound: float) -> bool:
    """Whether a bound stands for a word: 0 of a difference and 1 of a ratio only tell which way it goes."""
    return bound > 0 and bound != 1


def _told(direction: str, otherwise: str, bound: float) -> str:
    """A direction in words that shows its threshold."""
    text = direction or otherwise
    shown = any(letter.isdigit() for letter in text) or not is_threshold(bound)
    return text if shown else f"{text}: {otherwise}"


def at_most(name: str, ours: Quantity, bound: float, unit: str = "", direction: str = "", **given) -> Row:
    """Row whose direction is ``ours < bound``; twice the threshold is twice the bound."""
    text = _told(direction, f"below {bound:g}", bound)
    lenient = (lambda runs: 2 * bound - ours(runs)) if is_threshold(bound) else None
    return Row(name, ours, unit, margin=lambda runs: bound - ours(runs), direction=text, lenient=lenient, **given)


def at_least(name: str, ours: Quantity, bound: float, unit: str = "", direction: str = "", **given) -> Row:
    """Row whose direction is ``ours > bound``; twice as lenient is half the bound, of a share twice as far from 1."""
    text = _told(direction, f"above {bound:g}", bound)
    twice = 2 * bound - 1 if 0.5 < bound < 1 else bound / 2
    lenient = (lambda runs: ours(runs) - twice) if is_threshold(bound) else None
    return Row(name, ours, unit, margin=lambda runs: ours(runs) - bound, direction=text, lenient=lenient, **given)


def greater_by(name: str, greater: Quantity, lesser: Quantity, unit: str = "", direction: str = "") -> Row:
    """Row whose direction is ``greater > lesser`` for quantities that may be 0; ours is ``greater``."""

    def margin(runs: Runs) -> Values:
        more, less = paired(runs, greater, lesser)
        return more - less

    return Row(name, greater, unit, margin=margin, direction=direction)


def alike(name: str, quantities: tuple[Quantity, ...], unit: str = "") -> Row:
    """Row that holds when disciplines spread less than single runs of the first of them do.

    Parameters
    ----------
    name : str
        What is compared.
    quantities : tuple of callable
        One per discipline.
    unit : str
        Of each.

    Returns
    -------
    Row
        Ours is the largest minus the smallest in the same replication.
    """

    def spread(runs: Runs) -> Values:
        stacked = np.stack([own(runs) for own in quantities])
        return stacked.max(axis=0) - stacked.min(axis=0)

    def margin(runs: Runs) -> Values:
        return one_run_deviation(quantities[0](runs)) - spread(runs)

    return Row(name, spread, unit, margin=margin, direction="disciplines spread less than single runs of FIFO")


def not_above(name: str, ours: Quantity, other: Quantity, unit: str = "") -> Row:
    """Row that holds when ours exceeds the other by less than single runs of the other spread; logarithms."""

    def margin(runs: Runs) -> Values:
        theirs = np.log(other(runs))
        return theirs + one_run_deviation(theirs) - np.log(ours(runs))

    return Row(name, ours, unit, margin=margin, direction="above by less than single runs spread, or below")


def printed_beside(name: str, ours: Quantity, printed: Printed, unit: str = "") -> Row:
    """Row with a printed number and no direction."""
    return Row(name, ours, unit, printed)


def within(name: str, ours: Quantity, factor: float, unit: str = "", direction: str = "", **given) -> Row:
    """Row that holds when ours, a ratio, lies between 1 / ``factor`` and ``factor``; twice as far is twice as lenient.

    Notes
    -----
    A factor of 1.25 is 25 %, twice that 50 %, a factor of 1.5.
    """

    def margin_at(bound: float) -> Quantity:
        return lambda runs: np.log(bound) - np.abs(np.log(ours(runs)))

    text = _told(direction, f"within a factor of {factor:g}", factor)
    twice = margin_at(1 + 2 * (factor - 1))
    return Row(name, ours, unit, margin=margin_at(factor), direction=text, lenient=twice, **given)


def nearer_one(name: str, ours: Quantity, other: Quantity, direction: str, times: float = 1.0, **given) -> Row:
    """Row that holds when ours, a ratio, is nearer to 1 in logarithms than ``other``, by a factor ``times`` of it."""

    def margin(runs: Runs) -> Values:
        own, theirs = paired(runs, ours, other)
        return np.abs(np.log(theirs)) - np.abs(np.log(own)) - np.log(times)

    return Row(name, ours, margin=margin, direction=direction, **given)
