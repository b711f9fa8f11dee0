"""What `mayfly model POLICY` answers: response times by size, their mean, and the units they are in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from mayfly.arrays import Floats, distinct
from mayfly.errors import MayflyError
from mayfly.laws.service import ServiceLaw
from mayfly.laws.service_spec import service_law
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import Policy, policy
from mayfly.show.notebook import Result

if TYPE_CHECKING:
    from rich.table import Table

QUANTILES = (0.1, 0.5, 0.9, 0.99, 0.999)
"""Quantiles of the law whose sizes are answered for where none are given."""


@dataclass(frozen=True, repr=False)
class Answer(Result):
    """Response times of a policy.

    Parameters
    ----------
    policy : Policy
        Whose.
    law : str
        As spelled.
    queue : MG1
        Sizes and load.
    parameters : dict
        Of the policy.
    at : numpy.ndarray, shape (n,)
        Sizes.
    response_time : numpy.ndarray, shape (n,)
        Mean response times, seconds where there is a rate, else times to serve as many units of size.
    mean : float
        Over all jobs, in the same unit.
    time_of_one : float
        Time to serve one unit of size.
    seconds : bool
        Whether times are seconds.
    asked : tuple of float
        Percentiles asked for.
    percentiles : numpy.ndarray, shape (n_percentiles, n), optional
        Of the response time of each size, in the unit of ``response_time``.
    overall_percentiles : numpy.ndarray, shape (n_percentiles,), optional
        Of the response time of all jobs.
    """

    policy: Policy
    law: str
    queue: MG1
    parameters: dict[str, Any]
    at: Floats
    response_time: Floats
    mean: float
    time_of_one: float
    seconds: bool
    asked: tuple[float, ...] = ()
    percentiles: Floats | None = None
    overall_percentiles: Floats | None = None

    def document(self) -> dict[str, Any]:
        """All of it for JSON; a time that is infinite is null.

        Returns
        -------
        dict
            ``policy, law, rho, at, response_time, slowdown, mean, mean_size, cov, starves_above, unit``, and the
            parameters; where asked for, ``percentiles``, a list by size for each, and ``overall_percentiles``.
        """
        given = {name: np.asarray(value).tolist() for name, value in self.parameters.items()}
        return {
            "policy": self.policy.id,
            "law": self.law,
            "rho": self.queue.rho,
            **given,
            "at": self.at.tolist(),
            "response_time": [finite(value) for value in self.response_time.tolist()],
            "slowdown": [finite(value) for value in self.slowdown.tolist()],
            "mean": finite(self.mean),
            "mean_size": self.queue.law.mean,
            "cov": finite(self.queue.law.cov),
            "starves_above": self.starves_above,
            "unit": "s" if self.seconds else "size",
            **self._percentiles(),
        }

    def _percentiles(self) -> dict[str, Any]:
        if self.percentiles is None or self.overall_percentiles is None:
            return {}
        names = [f"{value:g}" for value in self.asked]
        by_size = [[finite(value) for value in row] for row in self.percentiles.tolist()]
        overall = [finite(value) for value in self.overall_percentiles.tolist()]
        return {
            "percentiles": dict(zip(names, by_size, strict=True)),
            "overall_percentiles": dict(zip(names, overall, strict=True)),
        }

    @cached_property
    def starves_above(self) -> float | None:
        """Size beyond which jobs never end, None where all do."""
        return self.policy.starves_above(self.queue, **self.parameters)

    @property
    def slowdown(self) -> Floats:
        """Response time over the time to serve the job alone, shape (n,); 1 or more."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.response_time / (self.at * self.time_of_one)

    def table(self) -> Table:
        """Sizes and times as a rich table."""
        from rich import box
        from rich.table import Table

        title = f"{self.policy.id}: {self.policy.title}, load {self.queue.rho:g}"
        found = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
        for header in ("size", "of jobs up to it", f"response time ({'s' if self.seconds else 'sizes'})", "slowdown"):
            found.add_column(header, justify="right")
        for value in self.asked:
            found.add_column(f"p{value:g}", justify="right")
        shares = self.queue.law.cdf(self.at)
        late = np.empty((0, len(self.at))) if self.percentiles is None else self.percentiles
        for size, share, time, slow, *row in zip(
            self.at, shares, self.response_time, self.slowdown, *late, strict=True
        ):
            found.add_row(f"{size:g}", f"{share:.4%}", f"{time:.6g}", f"{slow:.4g}", *(f"{value:.6g}" for value in row))
        return found

    def sentences(self) -> list[str]:
        """The mean, the law and the source in words."""
        law, unit = self.queue.law, " s" if self.seconds else ""
        named = ", ".join(f"{name} {np.asarray(value).tolist()}" for name, value in self.parameters.items())
        told = [f"mean response time {self.mean:.6g}{unit}; {self.law}: mean size {law.mean:.6g}, CoV {law.cov:.4g}"]
        if self.starves_above is not None:
            told.append(f"the queue grows without end: {starving(self.starves_above, law)} wait without end")
        if self.overall_percentiles is not None:
            both = zip(self.asked, self.overall_percentiles.tolist(), strict=True)
            listed = ", ".join(f"{value:.6g}{unit} (p{share:g})" for share, value in both)
            told.append(
                f"percentiles, the response time that such a share of the jobs does not exceed; of all: {listed}"
            )
        source = f"after {self.policy.source}" if self.policy.source else ""
        return told + [", ".join(filter(None, (named, source)))] * bool(named or source)


def starving(above: float, law: ServiceLaw) -> str:
    """Which jobs starve, in words."""
    return "jobs of every size" if above <= law.smallest else f"jobs larger than {above:.6g}"


def finite(value: float) -> float | None:
    """``value``, or None where it is infinite or undefined."""
    return value if math.isfinite(value) else None


def answer(
    name: str,
    law: str,
    rho: float,
    at: Sequence[float] | None = None,
    *,
    rate_bps: float | None = None,
    unit_bytes: float = 1.0,
    percentiles: Sequence[float] | None = None,
    **parameters: Any,
) -> Answer:
    """Response times under a policy.

    Parameters
    ----------
    name : str
        Policy.
    law : str
        As :func:`mayfly.laws.service_spec.service_law` reads it.
    rho : float
        Offered load, above 0.
    at : sequence of float, optional
        Sizes, 0 or more, in the unit of the law; quantiles of the law when absent.
    rate_bps : float, optional
        Rate of the link, bit/s: times are then seconds.
    unit_bytes : float
        Bytes of a unit of size, above 0; counts with a rate only.
    percentiles : sequence of float, optional
        Of the response time, above 0, below 100; for policies that are rank functions.
    **parameters
        Of the policy; those that are None count as not given.

    Returns
    -------
    Answer

    Raises
    ------
    MayflyError
        A value is out of its bounds.

    Examples
    --------
    >>> answer("ps", "exponential:mean=1", 0.5, [1.0, 2.0]).document()["response_time"]
    [2.0, 4.0]
    """
    row = policy(name)
    queue = MG1(service_law(law), rho)
    given = row.checked({key: value for key, value in parameters.items() if value is not None})
    sizes = np.asarray(at if at is not None else distinct(queue.law.quantile(np.array(QUANTILES))), dtype=float)
    if not unit_bytes > 0:
        raise MayflyError(f"unit = {unit_bytes:g}: must be above 0 bytes")
    one = 1.0 if rate_bps is None else unit_bytes * 8 / rate_bps
    times = row.response(queue, sizes, **given) * one
    mean = row.mean(queue, **given) * one
    if percentiles is None:
        return Answer(row, law, queue, given, sizes, times, mean, one, rate_bps is not None)
    late, overall = row.percentiles(queue, sizes, percentiles, **given)
    asked = tuple(float(value) for value in percentiles)
    return Answer(
        row, law, queue, given, sizes, times, mean, one, rate_bps is not None, asked, late * one, overall * one
    )


@overload
def numbers(name: str, text: str) -> list[float]: ...


@overload
def numbers(name: str, text: str | None) -> list[float] | None: ...


def numbers(name: str, text: str | None) -> list[float] | None:
    """Numbers of a line, parted by commas; None for none.

    Examples
    --------
    >>> numbers("at", "1,2e3")
    [1.0, 2000.0]
    """
    if text is None:
        return None
    try:
        found = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        found = []
    if not found:
        raise MayflyError(f"{name} = {text}: must be numbers parted by commas")
    return found
