"""A model of the M/G/1 queue against flow records: what the packets did beside what the theory says, by size of flow.

Principle: the flows of the records are the jobs, their bytes on the wire the work, and the load is what they offered
in the time they had: the model is told of the workload that was drawn, not of the law it came from (Chen 2012, 5.2.2).
Each flow gets the response time of its own size, and the means of both are taken over the same flows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from mayfly.arrays import Floats, number
from mayfly.errors import MayflyError
from mayfly.laws.service import Discrete
from mayfly.metrics.intervals import student_t
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import Policy
from mayfly.models.queue.policies import policy as policy_of

if TYPE_CHECKING:
    import polars as pl

    from mayfly.models.queue.jobs import JobRun

BLOCKS = 20
"""Parts of a run whose means are taken for independent: long against its busy periods, and enough for an interval."""

BINS_PER_DECADE = 5
"""Classes of size per factor of ten where none are given."""


@dataclass(frozen=True)
class Link:
    """What turns flows into jobs of a queue.

    Parameters
    ----------
    rate_bps : float
        Rate of the link, bit/s.
    duration_s : float
        Time in which the flows of a run start, s.
    warm_up_s : float
        Flows that start before count for the load, not for the means, s.
    mss, header_bytes : int
        Payload and header of a full packet, bytes.
    control_packets : int
        Packets of a header only that a flow sends over the link: SYN, FIN and the acknowledgements of both.
    direction : str
        Way of the flows, ``down`` or ``up``.

    Raises
    ------
    MayflyError
        A value is out of its bounds.
    """

    rate_bps: float
    duration_s: float
    warm_up_s: float = 0.0
    mss: int = 1460
    header_bytes: int = 40
    control_packets: int = 4
    direction: str = "down"

    def __post_init__(self) -> None:
        if not 0 < self.rate_bps < math.inf:
            raise MayflyError(f"rate = {self.rate_bps}: must be above 0 and finite")
        if not 0 <= self.warm_up_s < self.duration_s < math.inf:
            raise MayflyError(f"warm_up = {self.warm_up_s}: must be 0 or more, and below the duration")

    @property
    def byte_s(self) -> float:
        """Time of a byte on the link, s."""
        return 8 / self.rate_bps

    @overload
    def wire_bytes(self, packets: float) -> float: ...

    @overload
    def wire_bytes(self, packets: Floats) -> Floats: ...

    def wire_bytes(self, packets: Floats | float) -> Floats | float:
        """Bytes on the wire of a flow of so many full packets.

        Examples
        --------
        >>> Link(10e6, 100.0).wire_bytes(20)
        30160
        """
        return packets * (self.mss + self.header_bytes) + self.control_packets * self.header_bytes

    def jobs(self, records: pl.DataFrame) -> pl.DataFrame:
        """The TCP flows of the link that end, with ``wire_bytes``.

        Parameters
        ----------
        records : polars.DataFrame
            Flow records of docs/tables.md, of one discipline.

        Returns
        -------
        polars.DataFrame
            Unfinished ones included.

        Raises
        ------
        MayflyError
            There is none.
        """
        import polars as pl

        from mayfly.models.queue.flow_sizes import ended

        found = ended(records, self.direction)
        if found.is_empty():
            raise MayflyError(f"the records have no TCP flow in the direction {self.direction} that ends")
        headers = (pl.col("size_packets") + self.control_packets) * self.header_bytes
        return found.with_columns((pl.col("size_bytes") + headers).cast(pl.Float64).alias("wire_bytes"))

    def queue(self, records: pl.DataFrame) -> MG1:
        """The M/G/1 queue that the flows of the records make.

        Parameters
        ----------
        records : polars.DataFrame
            As of :meth:`jobs`; replications are put together.

        Returns
        -------
        MG1
            Sizes are bytes on the wire; the load may be 1 or more.

        Examples
        --------
        >>> import polars as pl
        >>> from mayfly.workload.lists import flow_list
        >>> flows = flow_list(pl.DataFrame({"start_s": [0.0, 1.0], "size_packets": [1, 3]})).with_columns(
        ...     size_packets=pl.Series([1, 3]))
        >>> Link(8e3, 10.0).queue(flows).rho
        0.632
        """
        jobs = self.jobs(records)
        runs = jobs["replication"].n_unique() if "replication" in jobs.columns else 1
        sizes = jobs["wire_bytes"].to_numpy()
        return MG1(Discrete(sizes), float(sizes.sum()) * self.byte_s / (runs * self.duration_s))


def beside(
    records: pl.DataFrame,
    policy: Policy | str,
    link: Link,
    *,
    queue: MG1 | None = None,
    path: bool = False,
    **parameters: Any,
) -> pl.DataFrame:
    """Each flow with the response time the model gives its size.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of docs/tables.md, of one discipline; replications are put together.
    policy : Policy or str
        Of :mod:`mayfly.models.queue.policies`.
    link : Link
        Of the flows.
    queue : MG1, optional
        Sizes in bytes on the wire; that of the records when absent.
    path : bool
        Add what the flow takes alone on its path beyond the time of its bytes on the link: handshake, round trips,
        slow start and tear-down. Takes the column ``slowdown``.
    **parameters
        Of the policy, in bytes on the wire.

    Returns
    -------
    polars.DataFrame
        The completed flows that started after the warm-up, with ``wire_bytes`` and ``model_s``, infinite for those that
        the model starves.

    Raises
    ------
    MayflyError
        There is no flow, or a parameter is out of its bounds.
    """
    import polars as pl

    from mayfly.metrics.size_classes import completed_tcp

    row = policy_of(policy) if isinstance(policy, str) else policy
    jobs = link.jobs(records).filter(completed_tcp() & (pl.col("start_s") >= link.warm_up_s))
    sizes, place = np.unique(jobs["wire_bytes"].to_numpy(), return_inverse=True)
    times = row.response(queue or link.queue(records), sizes, **parameters) * link.byte_s
    told = jobs.with_columns(pl.Series("model_s", times[place], dtype=pl.Float64))
    if not path:
        return told
    alone = pl.col("response_time_s") / pl.col("slowdown") - pl.col("wire_bytes") * link.byte_s
    return told.with_columns((pl.col("model_s") + alone).alias("model_s"))


def replayed(records: pl.DataFrame, policy: Policy | str, link: Link, **parameters: Any) -> pl.DataFrame:
    """The same flows served as jobs: each is at the link as a whole when it starts, in the order of the policy.

    Parameters
    ----------
    records, policy, link, **parameters
        As :func:`beside`. Under ``lfq`` each pair of ``src`` and ``dst`` is a user, unless its ``users`` are 0.

    Returns
    -------
    polars.DataFrame
        As :func:`beside`, with ``jobs_s`` in place of ``model_s``: the time to serve the flow among just these others.

    Raises
    ------
    MayflyError
        There is no flow, or the job-level simulation cannot play the policy.

    Notes
    -----
    A model is off from this by chance and the end of the run, and this from the records by packets and TCP.
    """
    import polars as pl

    from mayfly.metrics.size_classes import completed_tcp

    row = policy_of(policy) if isinstance(policy, str) else policy
    serve = _server_of(row, row.checked(parameters))
    jobs = link.jobs(records).sort("start_s")
    runs = jobs.partition_by("replication", maintain_order=True) if "replication" in jobs.columns else [jobs]
    found = []
    for run in runs:
        served = serve(run, run["start_s"].to_numpy() / link.byte_s, run["wire_bytes"].to_numpy())
        found.append(run.with_columns(pl.Series("jobs_s", served.response_time * link.byte_s, dtype=pl.Float64)))
    return pl.concat(found).filter(completed_tcp() & (pl.col("start_s") >= link.warm_up_s))


def _server_of(row: Policy, given: dict[str, Any]) -> Callable[[pl.DataFrame, Floats, Floats], JobRun]:
    """What serves the flows of a run as jobs under a policy: of a table of them, their arrivals and their sizes."""
    import polars as pl

    from mayfly.models.queue.jobs import played, simulate_jobs
    from mayfly.models.queue.user_jobs import simulate_users

    if row.id == "lfq":
        users = given.pop("users")

        def serve_users(run: pl.DataFrame, arrivals: Floats, sizes: Floats) -> JobRun:
            whose = run.select(pl.struct("src", "dst").rank("dense")).to_series().to_numpy() if users else None
            return simulate_users(arrivals, sizes, whose, **given).jobs

        return serve_users
    levels = played(row, **given)
    return lambda run, arrivals, sizes: simulate_jobs(levels, arrivals, sizes)


def by_class(
    flows: pl.DataFrame, link: Link, edges: Sequence[int] | None = None, bins_per_decade: int = BINS_PER_DECADE
) -> pl.DataFrame:
    """Means of both by class of size.

    Parameters
    ----------
    flows : polars.DataFrame
        Of :func:`beside`.
    link : Link
        The same.
    edges : sequence of int, optional
        First sizes of the classes, MSS, ascending; smaller flows are left out, the last class has no end.
    bins_per_decade : int
        Classes per factor of ten where there are no edges, >= 1.

    Returns
    -------
    polars.DataFrame
        ``size_packets_low``, ``size_packets_high`` (least and largest size that occurs), ``flows``,
        ``simulated_mean_s``, ``ci95_s`` (half the width of its 95 % interval, null where it cannot be told),
        ``model_mean_s``, ``error`` (model over simulated less 1); ascending sizes, classes without flows left out.

    Notes
    -----
    Flows of a busy period wait for each other, so the interval is not that of independent flows: each run is cut into
    20 parts by the start of the flows, and the mean is the ratio of two sums over the parts, whose interval follows
    from the deviations of the parts from it, Student's t. Where fewer than 10 parts have flows there is none. It is the
    interval of the mean of any such run. A model that is given the load and the sizes of this run follows what chance
    did to them, and is nearer than the interval says.
    """
    import polars as pl

    from mayfly.metrics.response import bin_key, checked

    checked("bins_per_decade", bins_per_decade, 1)
    size = pl.col("size_packets")
    if edges is None:
        binned = flows.with_columns(bin_key(bins_per_decade))
    else:
        first = np.asarray(edges)
        places = np.searchsorted(first, flows["size_packets"].to_numpy(), side="right")
        binned = flows.with_columns(pl.Series("bin", places)).filter(pl.col("bin") > 0)
    length = (link.duration_s - link.warm_up_s) / BLOCKS
    block = ((pl.col("start_s") - link.warm_up_s) / length).floor().clip(0, BLOCKS - 1).cast(pl.Int32)
    parts = binned.group_by("bin", block.alias("block"), *[c for c in ("replication",) if c in flows.columns]).agg(
        size.min().alias("low"),
        size.max().alias("high"),
        pl.len().cast(pl.Int64).alias("flows"),
        pl.col("response_time_s").sum().alias("time"),
        pl.col("model_s").sum().alias("model"),
    )
    rows = [_class_row(part) for _, part in sorted(parts.partition_by("bin", as_dict=True).items())]
    whole = dict.fromkeys(("size_packets_low", "size_packets_high", "flows"), pl.Int64)
    real = dict.fromkeys(("simulated_mean_s", "ci95_s", "model_mean_s", "error"), pl.Float64)
    return pl.DataFrame(rows, schema={**whole, **real})


def _class_row(parts: pl.DataFrame) -> dict[str, Any]:
    """One class from its sums over the parts of the runs."""
    counts, times = parts["flows"].to_numpy(), parts["time"].to_numpy()
    flows = int(counts.sum())
    mean, model = float(times.sum()) / flows, number(parts["model"].sum()) / flows
    return {
        "size_packets_low": parts["low"].min(),
        "size_packets_high": parts["high"].max(),
        "flows": flows,
        "simulated_mean_s": mean,
        "ci95_s": half_interval(times - mean * counts, flows),
        "model_mean_s": model,
        "error": model / mean - 1,
    }


def half_interval(deviations: Floats, flows: int) -> float | None:
    """Half the 95 % interval of a ratio of sums over parts, from the deviations of the parts from it."""
    parts = len(deviations)
    if parts < BLOCKS // 2:
        return None
    return student_t(parts - 1) * math.sqrt(parts / (parts - 1) * float(np.sum(deviations**2))) / flows


def by_size(flows: pl.DataFrame, window: int = 1) -> pl.DataFrame:
    """Means of both by exact size: the points of the figures of Chen 2012, chapter 5.

    Parameters
    ----------
    flows : polars.DataFrame
        Of :func:`beside`.
    window : int
        Neighbouring sizes, odd, of the median filter.

    Returns
    -------
    polars.DataFrame
        ``size_packets``, ``flows``, ``simulated_mean_s`` (*raw*), ``filtered_s`` (*medfilt*), ``model_mean_s``;
        ascending sizes.

    Raises
    ------
    MayflyError
        The window is not odd.

    Notes
    -----
    ``filtered_s`` is ``scipy.signal.medfilt`` of the raw means, the bin of which Chen 2012 does not give; but for the
    ends, beyond which it takes means of 0 s to lie: here the last one goes on.
    """
    import polars as pl
    from scipy.ndimage import median_filter

    if window < 1 or window % 2 == 0:
        raise MayflyError(f"window = {window}: must be odd, at least 1")
    means = flows.group_by("size_packets").agg(
        pl.len().cast(pl.Int64).alias("flows"),
        pl.col("response_time_s").mean().alias("simulated_mean_s"),
        pl.col("model_s").mean().alias("model_mean_s"),
    )
    means = means.sort("size_packets")
    filtered = median_filter(means["simulated_mean_s"].to_numpy(), size=window, mode="nearest")
    return means.with_columns(pl.Series("filtered_s", filtered, dtype=pl.Float64))


def errors(
    table: pl.DataFrame, simulated: str = "simulated_mean_s", model: str = "model_mean_s"
) -> dict[str, float | None]:
    """Error figures of a model over the rows of a table, each counted once.

    Parameters
    ----------
    table : polars.DataFrame
        Of :func:`by_class` or :func:`by_size`.
    simulated, model : str
        Columns compared.

    Returns
    -------
    dict
        ``median``, of model over simulated less 1 with its sign, and ``p90``, the 90 % quantile of its size; None for
        no rows, infinite where the model starves flows that ended.

    Examples
    --------
    >>> import polars as pl
    >>> errors(pl.DataFrame({"simulated_mean_s": [1.0, 2.0, 4.0], "model_mean_s": [1.1, 1.9, 4.0]}))["median"]
    0.0
    """
    if table.is_empty():
        return {"median": None, "p90": None}
    off = table[model].to_numpy() / table[simulated].to_numpy() - 1
    # The nearest rank: between a number and infinity there is no other.
    size = float(np.quantile(np.abs(off), 0.9, method="inverted_cdf"))
    return {"median": float(np.median(off)), "p90": size}


def against(
    records: pl.DataFrame,
    policy: Policy | str,
    link: Link,
    *,
    edges: Sequence[int] | None = None,
    queue: MG1 | None = None,
    path: bool = False,
    **parameters: Any,
) -> pl.DataFrame:
    """A model against records in one call: :func:`beside`, then :func:`by_class`.

    Parameters
    ----------
    records, policy, link, queue, path, **parameters
        As :func:`beside`.
    edges : sequence of int, optional
        As :func:`by_class`.

    Returns
    -------
    polars.DataFrame
        As :func:`by_class`.
    """
    return by_class(beside(records, policy, link, queue=queue, path=path, **parameters), link, edges)
