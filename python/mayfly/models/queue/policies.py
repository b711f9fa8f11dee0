"""The policies with a model of the M/G/1 queue: one row each, one file each.

The command line, the docs and the tests read this registry. It imports a model only where one is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.parameter import Parameter
from mayfly.text.nearest import expected

if TYPE_CHECKING:
    from mayfly.models.queue.mg1 import MG1

Response = Callable[..., "Floats"]
"""Mean response time by size: of a queue, an array of sizes and the parameters of the policy."""


@dataclass(frozen=True)
class Policy:
    """A row of the registry.

    Parameters
    ----------
    id, title : str
        Name on the command line, and in prose.
    maker : str
        Module of :mod:`mayfly.models` and its function: see :data:`Response`.
    parameters : tuple of Parameter
        What it takes beside sizes and load.
    source : str
        Where the formula stands.
    discipline : str
        The queueing discipline it stands for, empty if none.
    stations : str
        How :mod:`mayfly.models.queue.jobs` plays it, as :func:`mayfly.models.queue.jobs.levels` reads it with the
        thresholds among the parameters; empty if it cannot.
    """

    id: str
    title: str
    maker: str
    parameters: tuple[Parameter, ...] = ()
    source: str = ""
    discipline: str = ""
    stations: str = ""
    unranked: str = ""

    def response(self, queue: MG1, x: Floats | Sequence[float] | float, **given: Any) -> Floats:
        """Mean response time of jobs of given sizes.

        Parameters
        ----------
        queue : MG1
            Arrivals and sizes.
        x : array_like
            Sizes, 0 or more, in the unit of the law.
        **given
            Parameters by name.

        Returns
        -------
        numpy.ndarray
            In the shape of ``x``, times to serve as many units of size; infinite where the job never ends.

        Raises
        ------
        MayflyError
            A size is negative, or a parameter is missing, unknown or out of its bounds.

        Examples
        --------
        >>> from mayfly.laws.service_spec import service_law
        >>> from mayfly.models.queue.mg1 import MG1
        >>> POLICIES["las"].response(MG1(service_law("exponential:mean=1"), 0.5), [1.0]).round(6).tolist()
        [1.744563]
        """
        return self.function(queue, _sizes(x), **self.checked(given))

    def percentiles(
        self, queue: MG1, x: Floats | Sequence[float] | float, q: Sequence[float], **given: Any
    ) -> tuple[Floats, Floats]:
        """Percentiles of the response time of jobs of given sizes, and of all jobs.

        Parameters
        ----------
        queue, x, **given
            As for :meth:`response`, ``x`` of shape (n,).
        q : sequence of float
            Percentiles, above 0, below 100.

        Returns
        -------
        by_size : numpy.ndarray, shape (n_percentiles, n)
            Infinite where jobs never end.
        overall : numpy.ndarray, shape (n_percentiles,)
            Infinite where more jobs than that never end.

        Raises
        ------
        MayflyError
            The policy is no rank function, a value is out of its bounds, or the load is 1 or more and jobs get ahead
            again.

        Examples
        --------
        >>> from mayfly.laws.service_spec import service_law
        >>> from mayfly.models.queue.mg1 import MG1
        >>> by_size, overall = POLICIES["las"].percentiles(MG1(service_law("exponential:mean=1"), 0.5), [1.0], [90])
        >>> by_size.round(2).tolist(), overall.round(2).tolist()
        ([[3.12]], [5.01])
        """
        if self.unranked:
            raise MayflyError(f"percentiles: {self.id} {self.unranked}; simulate its jobs, mayfly.models.queue.jobs")
        if wrong := [value for value in q if not 0 < value < 100]:
            raise MayflyError(f"percentiles = {wrong[0]:g}: must be above 0 and below 100")
        import numpy as np

        from mayfly.models.ranks import percentiles as soap_percentiles
        from mayfly.models.ranks.policies import RANKS

        rank, wanted = RANKS[self.id](queue.law, **self.checked(given)), np.asarray(q, dtype=float)
        sizes = _sizes(x)
        return soap_percentiles.percentiles(queue, sizes, rank, wanted), soap_percentiles.overall(queue, rank, wanted)

    @property
    def function(self) -> Response:
        """The formula itself, without checks."""
        folder, module, name = self.maker.split(".")
        found: Response = getattr(import_module(f"mayfly.models.{folder}.{module}"), name)
        return found

    def mean(self, queue: MG1, **given: Any) -> float:
        """Mean response time over all jobs; infinite where some never end.

        Examples
        --------
        >>> from mayfly.laws.service_spec import service_law
        >>> from mayfly.models.queue.mg1 import MG1
        >>> round(POLICIES["las"].mean(MG1(service_law("hyperexponential:mean=1,cov=5"), 0.5)), 2)
        1.69
        """
        import numpy as np

        from mayfly.models.ranks.policies import bends

        checked = self.checked(given)
        breaks = np.concatenate([bends(self.id, queue.law, checked), *map(np.atleast_1d, checked.values())])
        return queue.law.expect(lambda x: self.function(queue, x, **checked), breaks)

    def starves_above(self, queue: MG1, **given: Any) -> float | None:
        """Size beyond which jobs never end, x* of an overloaded queue; None where all end.

        Parameters
        ----------
        queue : MG1
            Arrivals and sizes.
        **given
            Parameters by name.

        Returns
        -------
        float or None
            Right within 10^-9; the smallest size of the law where no job ends.

        Notes
        -----
        A policy that starves a size starves all larger ones (Urvoy-Keller 2007, 7.1): the bound is bisected.

        Examples
        --------
        >>> from mayfly.laws.service_spec import service_law
        >>> from mayfly.models.queue.mg1 import MG1
        >>> round(POLICIES["las"].starves_above(MG1(service_law("exponential:mean=1"), 2.0)), 6)
        0.693147
        """
        import numpy as np

        checked, law = self.checked(given), queue.law

        def ends(size: float) -> bool:
            return bool(np.isfinite(self.function(queue, np.array([size]), **checked))[0])

        low, high = law.smallest, law.largest if np.isfinite(law.largest) else 1e6 * law.mean
        if ends(high):
            return None
        low = max(low, 1e-12 * high)
        if not ends(low):
            return law.smallest
        while high > low * (1 + 1e-9):
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if ends(middle) else (low, middle)
        return low

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """``given`` with the defaults, each value within its bounds."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name, value in given.items():
            if name not in known:
                takes = ", ".join(known) or "no parameters"
                raise MayflyError(f"{name} = {value}: {self.id} takes {takes}")
        return {name: _within(self.id, parameter, given.get(name)) for name, parameter in known.items()}


def _sizes(x: Floats | Sequence[float] | float) -> Floats:
    import numpy as np

    sizes = np.asarray(x, dtype=float)
    if np.any(~(sizes >= 0)):
        raise MayflyError(f"at = {sizes[~(sizes >= 0)].ravel()[0]:g}: a size must be 0 or more")
    return sizes


def _within(policy: str, parameter: Parameter, value: Any) -> Any:
    value = parameter.default if value is None else value
    if value is None:
        raise MayflyError(f"{parameter.name}: {policy} needs it: {parameter.about}")
    import numpy as np

    values = np.atleast_1d(np.asarray(value, dtype=float))
    if wrong := [given for given in values.tolist() if not parameter.allows(given)]:
        raise MayflyError(f"{parameter.name} = {wrong[0]:g}: must be {parameter.bounds()}")
    if not parameter.several:
        if len(values) != 1:
            raise MayflyError(f"{parameter.name} = {value}: must be one number")
        return float(values[0])
    if np.any(np.diff(values) <= 0):
        raise MayflyError(f"{parameter.name} = {value}: must ascend")
    return values


SHARED = "shares the server among jobs of any age, which is no rank"
"""Why policies of processor sharing have no percentiles."""

_ROWS = (
    Policy("fifo", "first come, first served", "queue.fifo.response", (), "Chen 2012, Eq. 5.1", "fifo", "fcfs"),
    Policy("ps", "processor sharing", "queue.ps.response", (), "Chen 2012, Eq. 5.2", "scfq", "ps", SHARED),
    Policy("las", "least attained service", "queue.las.response", (), "Chen 2012, Eq. 5.3", "las", "las"),
    Policy(
        "lasack",
        "least attained service, uploads by what is acknowledged",
        "queue.lasack.response",
        (
            Parameter("uploads", about="Uploads per download; the load is that of downloads", default=0.5, closed=True),
            Parameter("ack", about="Bytes of acknowledgements per byte of data", default=40 / 3000, closed=True),
        ),
        source="Urvoy-Keller 2007, Eq. 8",
        discipline="lasack",
        unranked="has two kinds of jobs, and a rank function one",
    ),
    Policy(
        "run2c",
        "two levels of processor sharing",
        "queue.levels.response",
        (Parameter("threshold", about="Size at which a job falls to the low level"),),
        source="Chen 2012, Eq. 5.5 and 5.6",
        discipline="run2c",
        stations="ps|ps",
        unranked=SHARED,
    ),
    Policy(
        "levels",
        "levels of processor sharing",
        "queue.levels.response",
        (Parameter("threshold", about="Sizes at which a job falls to the next level, ascending", several=True),),
        source="Kleinrock 1976, 4.7",
        discipline="pias",
        stations="ps*",
        unranked=SHARED,
    ),
    Policy(
        "las-ps",
        "least attained service up to a size, shared beyond",
        "queue.las_ps.response",
        (Parameter("threshold", about="Size beyond which jobs share the server", closed=True),),
        source="Aalto, Ayesta and Nyberg 2004",
        stations="las|ps",
        unranked=SHARED,
    ),
    Policy(
        "lfq",
        "lagged fair queueing, users with transfers",
        "queue.lfq.response",
        (
            Parameter("user_lag", about="By which a user may be behind", closed=True),
            Parameter("flow_lag", about="By which a transfer may be behind in its user", closed=True),
            Parameter("users", about="Users, all alike; 0: each transfer is one of its own", default=10.0, closed=True),
            Parameter(
                "pace", "share", high=1.0, about="Speed of the clock of the link, 0 to 1", default=0.4, closed=True
            ),
        ),
        source="Aalto, Ayesta and Nyberg 2004; a mean field of users",
        discipline="lfq",
        unranked=SHARED,
    ),
    Policy(
        "srpt",
        "shortest remaining processing time",
        "queue.srpt.response",
        (),
        "Schrage and Miller 1966",
        "srpt",
        "srpt",
    ),
    Policy("psjf", "preemptive shortest job first", "queue.psjf.response", (), "Phipps 1956", "", "psjf"),
    Policy("sjf", "shortest job first", "queue.sjf.response", (), "Phipps 1956", "", "sjf"),
    Policy("gittins", "Gittins index by age", "ranks.gittins.response", (), "Gittins 1989; Scully 2018, Theorem 5.5"),
    Policy(
        "levels-fcfs",
        "levels of priority by age, first come first served in each",
        "queue.levels_fcfs.response",
        (Parameter("threshold", about="Sizes at which a job falls to the next level, ascending", several=True),),
        "Kleinrock 1976, 4.7",
        "",
        "fcfs*",
    ),
)

POLICIES: dict[str, Policy] = {row.id: row for row in _ROWS}
"""Rows by id."""


def policy(name: str) -> Policy:
    """The policy of that name.

    Raises
    ------
    MayflyError
        There is none.

    Examples
    --------
    >>> policy("lass")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: policy = lass: unknown policy; did you mean las?
    """
    if name in POLICIES:
        return POLICIES[name]
    raise MayflyError(f"policy = {name}: unknown policy; {expected(name, POLICIES)}")
