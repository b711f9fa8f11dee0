"""The size laws by name: what each takes, with unit and bounds, and how it is made.

Scenario, command line and docs read this registry. It imports a law only where one is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from mayfly.errors import MayflyError
from mayfly.laws.parameter import Parameter
from mayfly.text.nearest import expected

if TYPE_CHECKING:
    from mayfly.laws.sizes import SizeLaw


@dataclass(frozen=True)
class Law:
    """A row of the registry.

    Parameters
    ----------
    id, title : str
        Name in scenarios, and in prose.
    parameters : tuple of Parameter
        What the law may be described by.
    described_by : tuple of str
        Which of them go together, in words: ``two of mean, cov, shape, scale``.
    maker : str
        Module of :mod:`mayfly.workload`, class and class method that takes the parameters by name.
    source : str
        Who uses it.
    direct : tuple of str
        Parameters that go to the class itself and not to its method, when all of them are given.
    file : bool
        Whether the law is read from a file, which ``file`` names.
    renamed : mapping of str
        Parameters that the class calls otherwise.
    """

    id: str
    title: str
    parameters: tuple[Parameter, ...]
    described_by: tuple[str, ...]
    maker: str
    source: str
    direct: tuple[str, ...] = ()
    file: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Names of what the law takes."""
        return [parameter.name for parameter in self.parameters] + ["file"] * self.file

    def make(self, given: Mapping[str, Any]) -> SizeLaw:
        """The law of these parameters.

        Parameters
        ----------
        given : mapping of str
            Values by name; None counts as not given.

        Returns
        -------
        SizeLaw
            Sizes in packets.

        Raises
        ------
        MayflyError
            A parameter that the law does not take, is outside its bounds, or one too many or too few.

        Examples
        --------
        >>> LAWS["lognormal"].make({"mean": 40, "cov": 3}).sigma.__round__(4)
        1.5174
        >>> LAWS["lognormal"].make({"mean": 40, "shape": 3})
        Traceback (most recent call last):
        mayfly.errors.MayflyError: shape = 3: law lognormal takes mean and cov; mu and sigma
        """
        known = {name: value for name, value in given.items() if value is not None}
        for name, value in known.items():
            if name not in self.names():
                raise MayflyError(f"{name} = {value}: law {self.id} takes {'; '.join(self.described_by)}")
        for parameter in self.parameters:
            value = known.get(parameter.name)
            if value is not None and not (math.isfinite(value) and parameter.allows(value)):
                unit = f" {parameter.unit}" if parameter.unit else ""
                raise MayflyError(f"{parameter.name} = {value}: must be {parameter.bounds()}{unit}")
        module, name, *method = self.maker.split(".")
        call = getattr(import_module(f"mayfly.laws.{module}"), name)
        if method and not (self.direct and set(known) == set(self.direct)):
            call = getattr(call, method[0])
        arguments = {self.renamed.get(name, name): value for name, value in known.items()}
        try:
            signature(call).bind(**arguments)
        except TypeError:
            told = ", ".join(known) or "nothing"
            raise MayflyError(f"given {told}: law {self.id} takes {'; '.join(self.described_by)}") from None
        law: SizeLaw = call(**arguments)
        return law


def _mean(about: str = "mean size") -> Parameter:
    return Parameter("mean", "MSS", 0, 1e7, about)


_COV = Parameter("cov", "", 0, 1e6, "coefficient of variation: deviation over mean")
_MINIMUM = Parameter("minimum", "MSS", 0, 1e7, "smallest size")
_SCALE = Parameter("scale", "MSS", 0, 1e7, "scale")
_BOUNDED = (
    _MINIMUM,
    Parameter("maximum", "MSS", 0, 1e7, "largest size"),
    _mean(),
    _COV,
    Parameter("exponent", "", -1, 1000, "tail exponent; -1 is uniform", closed=True),
)
_BOUNDED_BY = ("three of minimum, maximum, mean, cov", "minimum, maximum and exponent")

_ROWS = (
    Law(
        "zipf",
        "bounded Zipf, whole sizes",
        _BOUNDED,
        _BOUNDED_BY,
        "sizes.BoundedZipf.solve",
        "Chen 2012, 4.4.2",
        direct=("minimum", "maximum", "exponent"),
    ),
    Law(
        "pareto",
        "bounded Pareto",
        _BOUNDED,
        _BOUNDED_BY,
        "sizes.BoundedPareto.solve",
        "Chen 2012, 4.4.2",
        direct=("minimum", "maximum", "exponent"),
    ),
    Law(
        "pareto-ii",
        "Pareto II (Lomax), from 0",
        (Parameter("shape", "", 0, 1000, "tail exponent; the mean is finite above 1"), _SCALE, _mean(), _COV),
        ("two of shape, scale, mean, cov, not shape with cov",),
        "pareto.ParetoII.solve",
        "Rai 2003, Table 1",
    ),
    Law(
        "bipareto",
        "two Pareto laws with a bend between",
        (
            _MINIMUM,
            _mean(),
            Parameter("body", "", 0, 1000, "exponent below the bend"),
            Parameter("tail", "", 0, 1000, "exponent above the bend; the mean is finite above 1"),
            Parameter("bend", "", 0, 1e7, "where the exponent changes, in multiples of minimum"),
        ),
        ("body, tail, bend, and minimum or mean",),
        "pareto.BiPareto.solve",
        "Nuzman et al. 2002",
    ),
    Law(
        "lognormal",
        "lognormal",
        (
            _mean(),
            _COV,
            Parameter("mu", "", -16, 16, "mean of the logarithm of the size in MSS"),
            Parameter("sigma", "", 0, 6, "deviation of the logarithm"),
        ),
        ("mean and cov", "mu and sigma"),
        "lifetimes.Lognormal.solve",
        "Chen 2012, 8.3",
        direct=("mu", "sigma"),
    ),
    Law(
        "weibull",
        "Weibull",
        (
            Parameter("shape", "", 0.1, 100, "below 1: a tail heavier than exponential", closed=True),
            _SCALE,
            _mean(),
            _COV,
        ),
        ("shape or cov, and scale or mean",),
        "lifetimes.Weibull.solve",
        "Chen 2012, 8.3 (times between arrivals)",
    ),
    Law("exponential", "exponential", (_mean(),), ("mean",), "sizes.Exponential", "", renamed={"mean": "scale"}),
    Law(
        "shifted-exponential",
        "a minimum plus an exponential size",
        (_MINIMUM, _mean(), _COV),
        ("mean, and minimum or cov",),
        "lifetimes.ShiftedExponential.solve",
        "Urvoy-Keller 2007, note 5",
    ),
    Law(
        "hyperexponential",
        "one of two exponential laws with half the bytes each",
        (_mean(), _COV),
        ("mean and cov",),
        "lifetimes.HyperExponential.balanced",
        "Avrachenkov, Brown and Osipova 2007",
    ),
    Law(
        "constant",
        "all sizes equal",
        (Parameter("size", "MSS", 1, 1e7, "the size, whole", closed=True),),
        ("size",),
        "sizes.Deterministic",
        "",
    ),
    Law(
        "empirical",
        "measured, from a file",
        (),
        ("file",),
        "empirical.Empirical.read",
        "",
        file=True,
    ),
)

LAWS: dict[str, Law] = {row.id: row for row in _ROWS}
"""Rows by id."""


def law_of(name: str, given: Mapping[str, Any]) -> SizeLaw:
    """The law of that name and those parameters; see :meth:`Law.make`.

    Examples
    --------
    >>> law_of("shifted-exponential", {"mean": 40, "minimum": 10})
    ShiftedExponential(minimum=10, scale=30)
    >>> law_of("weibul", {})
    Traceback (most recent call last):
    mayfly.errors.MayflyError: law = weibul: unknown law; did you mean weibull?
    """
    if name not in LAWS:
        raise MayflyError(f"law = {name}: unknown law; {expected(name, LAWS)}")
    return LAWS[name].make(given)


def parameters() -> dict[str, list[tuple[Law, Parameter]]]:
    """Every parameter by name, with the laws that take it.

    Examples
    --------
    >>> [law.id for law, _ in parameters()["sigma"]]
    ['lognormal']
    """
    found: dict[str, list[tuple[Law, Parameter]]] = {}
    for law in LAWS.values():
        for parameter in law.parameters:
            found.setdefault(parameter.name, []).append((law, parameter))
    return found
