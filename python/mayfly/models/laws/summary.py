"""What `mayfly model law` answers: moments and quantiles of a law of sizes, and where its mass lies.

The mass-weighted distribution F_w(x) = E[X; X <= x] / E[X] is the share of all bytes in jobs of up to x (Rai 2003, 4.2,
after Crovella 2001). Beside F(x) it tells what share of the mass the largest jobs carry.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.service_spec import service_law
from mayfly.models.queue.answer import finite
from mayfly.show.notebook import Result

if TYPE_CHECKING:
    from rich.table import Table

    from mayfly.laws.service import ServiceLaw

QUANTILES = (0.1, 0.5, 0.9, 0.99, 0.999)
"""Whose sizes are told where none are given."""

LARGEST = (0.001, 0.01, 0.05, 0.1, 0.2)
"""Shares of the jobs, the largest ones, whose mass is told."""

MOST_POINTS = 10_000
"""Of a map."""

_RANGE = re.compile(r"=\s*([^,=]+?)\.\.([^,=]+)")


def mass_up_to(law: ServiceLaw, size: Floats | float) -> Floats:
    """F_w: share of the mass in jobs of up to a size (Rai 2003, 4.2), in the shape of ``size``.

    Examples
    --------
    >>> mass_up_to(service_law("exponential:mean=1"), [1.0, 3.0]).round(4).tolist()
    [0.2642, 0.8009]
    """
    return law.partial_moment(1, size) / law.mean


def mass_of_largest(law: ServiceLaw, share: Floats | float) -> Floats:
    """Share of the mass in the largest jobs.

    Parameters
    ----------
    law : ServiceLaw
        Of sizes.
    share : array_like
        Of the jobs, from 0 to 1.

    Returns
    -------
    numpy.ndarray
        In the shape of ``share``; 0 for none, 1 for all. Jobs of equal size are parted where the share says.

    Raises
    ------
    MayflyError
        A share out of its bounds.

    Examples
    --------
    >>> mass_of_largest(service_law("exponential:mean=12"), [0.05, 0.5, 1.0]).round(4).tolist()
    [0.1998, 0.8466, 1.0]
    >>> mass_of_largest(service_law("deterministic:value=3"), 0.25).tolist()
    0.25
    """
    share = np.asarray(share, dtype=float)
    if not np.all((share >= 0) & (share <= 1)):
        raise MayflyError(f"share = {share.min():g} to {share.max():g}: must be from 0 to 1")
    with np.errstate(divide="ignore"):
        size = law.quantile(1 - share)
    # What equals the quantile counts as far as the share reaches.
    size_known = np.where(np.isfinite(size), size, 0.0)
    equal = size_known * np.maximum(share - law.survival(size), 0.0)
    return np.clip(1 - mass_up_to(law, size) + equal / law.mean, 0.0, 1.0)


def jobs_with_mass(law: ServiceLaw, mass: float) -> float:
    """Share of the jobs, the largest ones, that carry a share of the mass: the inverse of :func:`mass_of_largest`.

    Examples
    --------
    >>> round(jobs_with_mass(service_law("bounded-pareto:min=1,max=1e6,alpha=1.1"), 0.5), 4)
    0.0057
    """
    from scipy.optimize import brentq

    if not 0 <= mass <= 1:
        raise MayflyError(f"mass = {mass:g}: must be from 0 to 1")
    if mass in (0, 1):
        return float(mass)
    return float(brentq(lambda share: float(mass_of_largest(law, share)) - mass, 0.0, 1.0, xtol=1e-12))


@dataclass(frozen=True, repr=False)
class LawSummary(Result):
    """A law of sizes in numbers.

    Parameters
    ----------
    spec : str
        As spelled.
    law : ServiceLaw
        It.
    at : numpy.ndarray, shape (n,)
        Sizes.
    """

    spec: str
    law: ServiceLaw
    at: Floats

    def columns(self) -> dict[str, Floats]:
        """By size: share of jobs and of mass up to it, truncated moments of order 1 and 2; each of shape (n,)."""
        return {
            "cdf": self.law.cdf(self.at),
            "mass": mass_up_to(self.law, self.at),
            "truncated_mean": self.law.truncated(1, self.at),
            "truncated_square": self.law.truncated(2, self.at),
        }

    def document(self) -> dict[str, Any]:
        """All of it for JSON; what is infinite is null.

        Returns
        -------
        dict
            ``law, mean, cov, smallest, largest, median, at`` with its columns, ``largest_jobs`` and ``half_of_mass``.
        """
        law = self.law
        shares = mass_of_largest(law, np.array(LARGEST))
        return {
            "law": self.spec,
            "mean": law.mean,
            "cov": finite(law.cov),
            "smallest": law.smallest,
            "largest": finite(law.largest),
            "median": float(law.quantile(0.5)),
            "at": self.at.tolist(),
            **{name: values.tolist() for name, values in self.columns().items()},
            "largest_jobs": [{"jobs": jobs, "mass": mass} for jobs, mass in zip(LARGEST, shares.tolist(), strict=True)],
            "half_of_mass": jobs_with_mass(law, 0.5),
        }

    def table(self) -> Table:
        """A row per size as a rich table."""
        from rich import box
        from rich.table import Table

        found = Table(title=self.spec, box=box.SIMPLE_HEAD, title_justify="left")
        for head in ("size", "jobs up to it", "mass up to it", "E min(X, x)", "E min(X, x)^2"):
            found.add_column(head, justify="right")
        columns = self.columns().values()
        for size, jobs, mass, first, second in zip(self.at, *columns, strict=True):
            found.add_row(f"{size:g}", f"{jobs:.4%}", f"{mass:.4%}", f"{first:.6g}", f"{second:.6g}")
        return found

    def sentences(self) -> list[str]:
        """Moments, and where the mass lies."""
        law = self.law
        shares = mass_of_largest(law, np.array(LARGEST))
        largest = ", ".join(f"{jobs:g}: {mass:.1%}" for jobs, mass in zip(LARGEST, shares, strict=True))
        return [
            f"mean {law.mean:.6g}, CoV {law.cov:.4g}, sizes from {law.smallest:g} to {law.largest:g}",
            f"mass in the largest jobs, by their share: {largest}",
            f"half of the mass is in {jobs_with_mass(law, 0.5):.3%} of the jobs",
        ]


def law_summary(spec: str, at: Sequence[float] | None = None) -> LawSummary:
    """A law of sizes in numbers.

    Parameters
    ----------
    spec : str
        As :func:`mayfly.laws.service_spec.service_law` reads it.
    at : sequence of float, optional
        Sizes, 0 or more; quantiles when absent.

    Returns
    -------
    LawSummary

    Raises
    ------
    MayflyError
        The law cannot be read, or a size is negative.
    """
    law = service_law(spec)
    sizes = np.asarray(at if at is not None else np.unique(law.quantile(np.array(QUANTILES))), dtype=float)
    if not (sizes >= 0).all():
        raise MayflyError(f"at = {sizes.min():g}: must be 0 or more")
    return LawSummary(spec, law, sizes)


@dataclass(frozen=True, repr=False)
class LawMap(Result):
    """Mean and coefficient of variation over ranges of parameters.

    Parameters
    ----------
    spec : str
        As spelled.
    names : tuple of str
        Of the parameters with a range.
    points : numpy.ndarray, shape (n, names)
        Their values.
    mean, cov : numpy.ndarray, shape (n,)
        Of the law with these.
    """

    spec: str
    names: tuple[str, ...]
    points: Floats
    mean: Floats
    cov: Floats

    def document(self) -> dict[str, Any]:
        """All of it for JSON: ``law`` and ``map``, a row per point."""
        return {
            "law": self.spec,
            "map": [
                dict(zip(self.names, point, strict=True)) | {"mean": mean, "cov": finite(cov)}
                for point, mean, cov in zip(self.points.tolist(), self.mean.tolist(), self.cov.tolist(), strict=True)
            ],
        }

    def table(self) -> Table:
        """A row per point as a rich table."""
        from rich import box
        from rich.table import Table

        found = Table(title=self.spec, box=box.SIMPLE_HEAD, title_justify="left")
        for head in (*self.names, "mean", "CoV"):
            found.add_column(head, justify="right")
        for point, mean, cov in zip(self.points, self.mean, self.cov, strict=True):
            found.add_row(*(f"{value:g}" for value in point), f"{mean:.6g}", f"{cov:.4g}")
        return found

    def sentences(self) -> list[str]:
        """The ends of both."""
        return [
            f"mean from {self.mean.min():.6g} to {self.mean.max():.6g}, CoV from {self.cov.min():.4g} "
            f"to {self.cov.max():.4g}"
        ]


def has_ranges(spec: str) -> bool:
    """Whether a law is spelled with ranges, such as ``lognormal:mu=7..8,sigma=1``."""
    return bool(_RANGE.search(spec)) and not spec.strip().startswith("sample")


def law_map(spec: str, steps: int = 5) -> LawMap:
    """Mean and coefficient of variation over ranges of parameters.

    Parameters
    ----------
    spec : str
        A law with parameters like ``alpha=1..2``.
    steps : int
        Values of each parameter with a range, both ends among them, from 2.

    Returns
    -------
    LawMap
        A row per combination.

    Raises
    ------
    MayflyError
        There is no range, or a law of the map cannot be made.

    Notes
    -----
    Urvoy-Keller 2007, Fig. 7 and 8.

    Examples
    --------
    >>> law_map("bounded-pareto:min=3,max=13333,alpha=1.2..2", 3).cov.round(3).tolist()
    [7.147, 3.851, 1.789]
    """
    if steps < 2:
        raise MayflyError(f"steps = {steps}: must be at least 2")
    names = tuple(re.findall(r"([A-Za-z_-]+)\s*=\s*[^,=]+?\.\.[^,=]+", spec))
    try:
        ends = [(float(low), float(high)) for low, high in _RANGE.findall(spec)]
    except ValueError:
        ends = []
    if not ends:
        raise MayflyError(f"law = {spec}: must have a parameter with a range, such as alpha=1..2")
    if steps ** len(ends) > MOST_POINTS:
        raise MayflyError(f"steps = {steps}: must make at most {MOST_POINTS} laws, these are {steps ** len(ends)}")
    points = list(itertools.product(*(np.linspace(low, high, steps).tolist() for low, high in ends)))
    laws = []
    for point in points:
        values = iter(point)
        laws.append(service_law(_RANGE.sub(lambda _: f"={next(values)!r}", spec)))  # noqa: B023
    return LawMap(
        spec, names, np.array(points), np.array([law.mean for law in laws]), np.array([law.cov for law in laws])
    )
