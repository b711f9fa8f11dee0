"""What a paper does not tell of its settings, declared beside the claims of a page: ``unknowns.py`` with `CALIBRATION`.

``mayfly reproduce calibrate PAGE`` searches it (:mod:`mayfly_papers.calibrate`). A page declares one row per unknown,
one function from a setting to its experiments, and the claims whose printed numbers decide.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mayfly.errors import MayflyError
from mayfly_papers.declare.declaration import Claim, Experiment

Setting = Mapping[str, float | str]
"""A value of each unknown, by its id."""


@dataclass(frozen=True)
class Unknown:
    """Something that a paper leaves open.

    Parameters
    ----------
    id : str
        Of words and dashes.
    says : str
        What it is, in words.
    values : tuple of float or str
        Those that are tried, at least two, all different.
    why : str
        What the text says of it, and where the range comes from.
    unit : str
        Of the values.

    Raises
    ------
    MayflyError
        Fewer than two values, or one twice.
    """

    id: str
    says: str
    values: tuple[float | str, ...]
    why: str
    unit: str = ""

    def __post_init__(self) -> None:
        if len(self.values) < 2 or len(set(self.values)) < len(self.values):
            told = ", ".join(map(str, self.values)) or "none"
            raise MayflyError(f"unknown {self.id}: values {told}: must be at least two, all different")


def _same_measures(setting: Setting) -> Mapping[str, str]:
    """Measures as the rows name them, whatever the setting."""
    return {}


def _alone(experiment: str) -> str:
    """Every experiment in a group of its own."""
    return experiment


@dataclass(frozen=True)
class Calibration:
    """What is searched of a page.

    Parameters
    ----------
    unknowns : tuple of Unknown
        With different ids.
    experiments : callable
        From a setting to the experiments that the claims name, always the same ids with as many disciplines. What it
        gives must follow from the setting alone.
    claims : tuple of Claim
        Their rows with a printed number above 0 are the cells. One reading of each printed number.
    first : mapping
        The setting that was taken before anybody searched: what the search is held beside.
    measures : callable, optional
        From a setting to names of measures that stand for those which rows ask for: an unknown of how a paper counts
        needs no run of its own.
    together : callable, optional
        From the id of an experiment to its group: those of a group are used or kept aside together. Runs that differ
        little belong together, or the half kept aside would be no test.

    Raises
    ------
    MayflyError
        Two unknowns of one id, or a first setting with another value than those declared.
    """

    unknowns: tuple[Unknown, ...]
    experiments: Callable[[Setting], Sequence[Experiment]] = field(repr=False)
    claims: tuple[Claim, ...] = field(repr=False)
    first: Setting
    measures: Callable[[Setting], Mapping[str, str]] = _same_measures
    together: Callable[[str], str] = _alone

    def __post_init__(self) -> None:
        ids = [unknown.id for unknown in self.unknowns]
        if not ids or len(set(ids)) < len(ids):
            raise MayflyError(f"unknowns {', '.join(ids) or 'none'}: must be at least one, with different ids")
        for unknown in self.unknowns:
            if self.first.get(unknown.id) not in unknown.values:
                told = ", ".join(map(str, unknown.values))
                raise MayflyError(f"first: {unknown.id} = {self.first.get(unknown.id)}: must be one of {told}")
