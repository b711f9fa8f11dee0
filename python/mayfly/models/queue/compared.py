"""Policies side by side on one law of sizes: what `mayfly model compare` answers and draws."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.service import Discrete, ServiceLaw
from mayfly.laws.service_spec import service_law
from mayfly.models.queue.answer import QUANTILES, Answer, finite, numbers, starving
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES, Policy, policy
from mayfly.show.notebook import Result

if TYPE_CHECKING:
    from rich.table import Table

MOST_POINTS = 10_000
"""Sizes of a curve at most."""

LOADS = (0.02, *(step / 20 for step in range(1, 19)), 0.92, 0.94, 0.96, 0.97, 0.98)
"""Loads of the curve of means."""

MOST_LOADS = 10
"""Loads at most: each has plots of its own."""

WIDE = 6
"""Sizes a table has columns for; more of them are lines."""

_WRITTEN = re.compile(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class Member:
    """A policy with its parameters.

    Parameters
    ----------
    policy : Policy
        Row of the registry.
    parameters : dict
        Checked, complete.
    label : str
        As written: ``las``, ``run2c(threshold=20)``.
    """

    policy: Policy
    parameters: dict[str, Any]
    label: str


@dataclass(frozen=True, repr=False)
class Compared(Result):
    """Response times of several policies on one law, at one load or more.

    Parameters
    ----------
    law : str
        As spelled.
    service : ServiceLaw
        The same.
    rho : tuple of float
        Offered loads, ascending.
    at : numpy.ndarray, shape (n,)
        Sizes.
    members : tuple of Member
        Policies.
    answers : dict of Answer
        By label and load.
    """

    law: str
    service: ServiceLaw
    rho: tuple[float, ...]
    at: Floats
    members: tuple[Member, ...]
    answers: dict[tuple[str, float], Answer]

    @property
    def first(self) -> Answer:
        """Any answer: they have the units in common."""
        return next(iter(self.answers.values()))

    def of(self, rho: float) -> Iterator[tuple[Member, Answer]]:
        """Members with their answers at one load."""
        return ((member, self.answers[member.label, rho]) for member in self.members)

    def document(self) -> dict[str, Any]:
        """All of it for JSON; a time that is infinite is null.

        Returns
        -------
        dict
            ``law, mean_size, cov, unit, rho, at`` and ``policies``: a list with ``label, policy, source``, parameters,
            and ``loads``: by load, ``rho, response_time, slowdown, mean, mean_slowdown, starves_above``.
        """
        return {
            "law": self.law,
            "mean_size": self.service.mean,
            "cov": finite(self.service.cov),
            "unit": "s" if self.first.seconds else "size",
            "rho": list(self.rho),
            "at": self.at.tolist(),
            "policies": [self._told(member) for member in self.members],
        }

    def _told(self, member: Member) -> dict[str, Any]:
        given = {name: np.asarray(value).tolist() for name, value in member.parameters.items()}
        loads = []
        for rho in self.rho:
            found = self.answers[member.label, rho]
            loads.append(
                {
                    "rho": rho,
                    "response_time": [finite(value) for value in found.response_time.tolist()],
                    "slowdown": [finite(value) for value in found.slowdown.tolist()],
                    "mean": finite(found.mean),
                    "mean_slowdown": finite(mean_slowdown(member, found.queue)),
                    "starves_above": member.policy.starves_above(found.queue, **member.parameters),
                }
            )
        return {
            "label": member.label,
            "policy": member.policy.id,
            "source": member.policy.source,
            **given,
            "loads": loads,
        }

    def tables(self) -> list[Table]:
        """A rich table per load: response times by size, and the mean over all jobs."""
        return [self._table(rho) for rho in self.rho]

    def _table(self, rho: float) -> Table:
        from mayfly.show.terminal import FoldingTable, HidingTable, empty_table

        unit = "s" if self.first.seconds else "sizes"
        title = f"Mean response time ({unit}) by size, load {rho:g}"
        sizes = [f"{size:.5g}" for size in self.at]
        times = [[plain(time) for time in answer.response_time] for _, answer in self.of(rho)]
        means = [plain(answer.mean) for _, answer in self.of(rho)]
        labels = [member.label for member in self.members]
        lines: Iterable[tuple[Any, ...]]
        if len(sizes) <= WIDE:
            found = empty_table(title, FoldingTable)
            heads, lines = ["policy", *sizes, "all"], zip(labels, *zip(*times, strict=True), means, strict=True)
        else:
            found = empty_table(title, HidingTable)
            heads, lines = ["size", *labels], [*zip(sizes, *times, strict=True), ("all", *means)]
        for place, head in enumerate(heads):
            # Where there is little room, long names take two lines.
            found.add_column(head, justify="right" if place else "left", no_wrap=place > 0, overflow="fold")
        for line in lines:
            found.add_row(*line)
        return found

    def starving(self) -> list[str]:
        """Which sizes starve, in words."""
        told = []
        for rho in self.rho:
            for member, answer in self.of(rho):
                if answer.starves_above is not None:
                    what = starving(answer.starves_above, self.service)
                    told.append(f"at load {rho:g} {member.label} lets {what} wait without end")
        return told

    def sentences(self) -> list[str]:
        """The law, which sizes starve, and the sources, in words."""
        law = self.service
        told = [f"{self.law}: mean size {law.mean:.6g}, CoV {law.cov:.4g}", *self.starving()]
        return told + [
            f"{member.label}: {member.policy.title}, after {member.policy.source}" for member in self.members
        ]


def plain(value: float) -> str:
    """Write four significant digits, without exponent up to 10^7.

    Examples
    --------
    >>> plain(18644.2), plain(1.19936), plain(float("inf")), plain(2.5e9)
    ('18,640', '1.199', 'inf', '2.5e+09')
    """
    return f"{float(f'{value:.4g}'):,.7g}"


def mean_slowdown(member: Member, queue: MG1) -> float:
    """E[T(X) / X] of a policy; 1 or more, infinite where some jobs never end."""
    breaks = np.concatenate([[0.0], *(np.atleast_1d(value) for value in member.parameters.values())])
    return queue.law.expect(lambda x: member.policy.function(queue, x, **member.parameters) / x, breaks)


def members(text: str, threshold: Sequence[float] | None = None) -> tuple[Member, ...]:
    """The policies of a list.

    Parameters
    ----------
    text : str
        Such as ``fifo,ps,run2c(threshold=20)``; several numbers of a parameter are parted by colons. ``all`` stands
        for every policy that has the parameters it needs.
    threshold : sequence of float, optional
        For every policy that takes one and has none of its own in the list.

    Returns
    -------
    tuple of Member
        In the order written.

    Raises
    ------
    MayflyError
        A policy or parameter is unknown, missing, out of its bounds or there twice.

    Examples
    --------
    >>> [member.label for member in members("fifo, las")]
    ['fifo', 'las']
    """
    from mayfly.discipline_registry import split

    found: dict[str, Member] = {}
    for part in split(text):
        for member in _every(threshold) if part == "all" else [_member(part, threshold)]:
            found.setdefault(member.label, member)
    if not found:
        raise MayflyError(f"policies = '{text}': must name at least one of {', '.join(POLICIES)}")
    if threshold is not None and not any("threshold" in member.parameters for member in found.values()):
        raise MayflyError(f"threshold = {', '.join(map('{:g}'.format, threshold))}: none of {text} takes one")
    return tuple(found.values())


def _every(threshold: Sequence[float] | None) -> list[Member]:
    given = set() if threshold is None else {"threshold"}
    needs = {row.id: {p.name for p in row.parameters if p.default is None} for row in POLICIES.values()}
    return [_member(name, threshold) for name, needed in needs.items() if needed <= given]


def _member(part: str, threshold: Sequence[float] | None) -> Member:
    match = _WRITTEN.match(part)
    if match is None:
        raise MayflyError(f"policy '{part}': must be an id such as las, or with parameters: run2c(threshold=20)")
    row = policy(match[1])
    given: dict[str, Any] = {}
    for piece in filter(str.strip, re.split(r"[,;]", match[2] or "")):
        name, equals, value = (word.strip() for word in piece.partition("="))
        if not equals or name in given:
            raise MayflyError(f"policy '{part}': {piece.strip()}: must be NAME=NUMBER, once")
        given[name] = numbers(name, value.replace(":", ","))
    written = ", ".join(f"{name}={':'.join(map('{:g}'.format, value))}" for name, value in given.items())
    if threshold is not None and "threshold" not in given and any(p.name == "threshold" for p in row.parameters):
        given["threshold"] = list(threshold)
    return Member(row, row.checked(given), f"{row.id}({written})" if written else row.id)


def curve_sizes(law: ServiceLaw, points: int) -> Floats:
    """Sizes that show a law from end to end, at equal distances in the logarithm.

    Parameters
    ----------
    law : ServiceLaw
        Sizes.
    points : int
        How many, 2 or more.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Ascending, at most ``points``; of a discrete law, sizes it has. An end without bound is the quantile of 10^-3,
        or of 1 - 10^-6.

    Examples
    --------
    >>> curve_sizes(service_law("bounded-pareto:min=1,max=1e4,alpha=1.1"), 5).round(3).tolist()
    [1.0, 10.0, 100.0, 1000.0, 10000.0]
    """
    low = law.smallest if law.smallest > 0 else float(law.quantile(1e-3))
    high = law.largest if np.isfinite(law.largest) else float(law.quantile(1 - 1e-6))
    sizes = np.geomspace(low, high, points).clip(low, high)
    return np.unique(law.quantile(law.cdf(sizes))) if isinstance(law, Discrete) else np.unique(sizes)


def compared(
    policies: str | Sequence[Member],
    law: str,
    rho: Sequence[float],
    at: Sequence[float] | None = None,
    *,
    curve: int | None = None,
    threshold: Sequence[float] | None = None,
    rate_bps: float | None = None,
    unit_bytes: float = 1.0,
) -> Compared:
    """Response times of several policies on one law.

    Parameters
    ----------
    policies : str or sequence of Member
        As :func:`members` reads them.
    law : str
        As :func:`mayfly.laws.service_spec.service_law` reads it.
    rho : sequence of float
        Offered loads, above 0.
    at : sequence of float, optional
        Sizes, 0 or more; quantiles of the law when absent.
    curve : int, optional
        In place of ``at``: as many sizes from end to end of the law, 2 to 10 000.
    threshold : sequence of float, optional
        Of the policies that take one.
    rate_bps : float, optional
        Rate of the link, bit/s: times are then seconds.
    unit_bytes : float
        Bytes of a unit of size, above 0; counts with a rate only.

    Returns
    -------
    Compared

    Raises
    ------
    MayflyError
        A value is out of its bounds.

    Examples
    --------
    >>> found = compared("fifo,ps", "exponential:mean=1", [0.5], [1.0])
    >>> [round(row["loads"][0]["mean"], 9) for row in found.document()["policies"]]
    [2.0, 2.0]
    """
    if at is not None and curve is not None:
        raise MayflyError(f"curve = {curve}: must not be given beside at")
    if curve is not None and not 2 <= curve <= MOST_POINTS:
        raise MayflyError(f"curve = {curve}: must be from 2 to {MOST_POINTS}")
    if not 0 < len(rho) <= MOST_LOADS:
        raise MayflyError(f"rho: {len(rho)} loads: must be from 1 to {MOST_LOADS}")
    if not unit_bytes > 0:
        raise MayflyError(f"unit = {unit_bytes:g}: must be above 0 bytes")
    chosen = members(policies, threshold) if isinstance(policies, str) else tuple(policies)
    service = service_law(law)
    queues = {value: MG1(service, value) for value in sorted(set(rho))}
    if curve is not None:
        sizes = curve_sizes(service, curve)
    else:
        sizes = np.asarray(at if at is not None else np.unique(service.quantile(np.array(QUANTILES))), dtype=float)
    one = 1.0 if rate_bps is None else unit_bytes * 8 / rate_bps
    answers = {}
    for value, queue in queues.items():
        for member in chosen:
            times = member.policy.response(queue, sizes, **member.parameters) * one
            mean = member.policy.mean(queue, **member.parameters) * one
            answers[member.label, value] = Answer(
                member.policy, law, queue, member.parameters, sizes, times, mean, one, rate_bps is not None
            )
    return Compared(law, service, tuple(queues), sizes, chosen, answers)
