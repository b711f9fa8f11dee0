"""Web sessions: users who fetch pages of several objects and read in between.

Principle: a page is a stage of the flow list (:mod:`mayfly.workload.stages`). In the closed loop a page starts when the
page before is complete and was read, in the open loop at times that no network moves. All times are drawn beforehand,
one named stream per law.

Source: Rai 2003, 4.1 and Table 1; the closed loop is that of ns-2's WebTraf, which the report used: the first object
is asked for at once, each further one a time after the one before; numbers of pages and objects and sizes are rounded
up; an object is asked for on a connection of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from mayfly.arrays import Booleans, Floats, Integers, number
from mayfly.errors import MayflyError
from mayfly.fields import Buffer, Group, Seconds, Section, Whole
from mayfly.laws.pareto import ParetoII
from mayfly.laws.section import SIZES, Sizes
from mayfly.laws.sizes import SizeLaw
from mayfly.limits import DRAWN_BYTES, refuse_flows
from mayfly.workload.arrivals import choice, exponential, stream
from mayfly.workload.hosts import Hosts, host_series
from mayfly.workload.sources.common import FROM, GROUP, TO, TRANSPORT, bytes_of

if TYPE_CHECKING:
    import polars as pl

MOST_PAGES = 10_000_000
"""Largest expected number of pages of one entry."""


class WebSection(Section):
    """Web sessions (Rai 2003, Table 1): pages of objects, read one after the other."""

    sessions: Whole = Field(1300, ge=1, le=1_000_000, description="number of sessions")
    session_gap: Seconds = Field(8.0, description="mean time from the start of a session to the next; exponential")
    start: Seconds = Field(0.0, description="start of the first session")
    pages: float = Field(60, gt=0, le=1e6, description="mean pages of a session; exponential, rounded up")
    page_gap: Seconds = Field(5.0, description="mean time to read a page; exponential")
    objects: float = Field(3, gt=0, le=1e6, description="mean objects of a page; exponential, rounded up")
    object_gap: Seconds = Field(0.5, description="mean time from one object of a page to the next; exponential")
    mean: float = Field(12, gt=0, description="mean object size, MSS; Pareto II, rounded up")
    shape: float = Field(1.2, gt=1, le=1000, description="tail exponent of the object size")
    sizes: Sizes | None = Field(None, description=f"objects: {SIZES}, in place of mean and shape")
    loop: Literal["closed", "open"] = Field(
        "closed", description="a page is read once it is complete (as in ns-2's WebTraf), or from its start on"
    )
    request: Buffer | None = Field(
        None, description="closed loop: payload of a request for an object, on a separate connection, in MSS or bytes"
    )
    group: Group = Field(None, description=GROUP)
    transport: Group = Field(None, description=TRANSPORT)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)

    def drawn(self, mss: int, ends: tuple[Hosts, Hosts] | None) -> Web:
        """The source, between the hosts of ``ends``."""
        return Web(
            sessions=self.sessions,
            session_gap_s=self.session_gap,
            start_s=self.start,
            pages=self.pages,
            objects=self.objects,
            page_gap_s=self.page_gap,
            object_gap_s=self.object_gap,
            law=object_law(self.sizes, self.shape, self.mean, "workload.web.sizes"),
            closed=self.loop == "closed",
            request_bytes=0 if self.request is None else bytes_of(self.request, mss),
            group=self.group,
            ends=ends,
        )


def object_law(sizes: Sizes | None, shape: float, mean: float, where: str) -> SizeLaw:
    """Law of the sizes of objects: of a table, or else Pareto II; errors begin with ``where``."""
    return sizes.drawn(where) if sizes is not None else ParetoII.solve(shape=shape, mean=mean)


@dataclass(frozen=True)
class Web:
    """Web sessions; exponential numbers and times, as means.

    Parameters
    ----------
    sessions : int
        Number of sessions, >= 1; those that would start after the end of the run are left out.
    session_gap_s : float
        From the start of a session to that of the next, s, >= 0.
    start_s : float
        Start of the first session, s, >= 0.
    pages, objects : float
        Pages of a session and objects of a page, rounded up, > 0.
    page_gap_s : float
        Time to read: from the end of a page to the start of the next one; in the open loop from its start, s, >= 0.
    object_gap_s : float
        From one object of a page to the next, s, >= 0.
    law : SizeLaw
        Sizes of objects in packets, rounded up.
    closed : bool
        Whether a page waits for the one before.
    request_bytes : int
        Payload of the connection on which the client asks for an object, ahead of the object's own, bytes; 0 for none,
        as in the open loop always.
    group : str, optional
        Name of the objects' group. Requests are in none.
    ends : pair of sequences, optional
        Servers and clients, in place of the hosts of the whole mix.
    """

    kind: ClassVar[str] = "web"

    sessions: int = 1300
    session_gap_s: float = 8.0
    start_s: float = 0.0
    pages: float = 60.0
    objects: float = 3.0
    page_gap_s: float = 5.0
    object_gap_s: float = 0.5
    law: SizeLaw = field(default_factory=lambda: ParetoII.solve(shape=1.2, mean=12))
    closed: bool = True
    request_bytes: int = 0
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None

    def pages_of(
        self, duration_s: float, seed: int, index: int, hosts: tuple[Hosts, Hosts], mss: int, first_stage: int
    ) -> pl.DataFrame:
        """Rows of the flow list: :func:`web_flows`."""
        return web_flows(self, duration_s, seed, index, hosts, mss, first_stage)

    def __post_init__(self) -> None:
        if not 1 <= self.sessions <= 1_000_000:
            raise MayflyError(f"web: sessions = {self.sessions}: must be from 1 to 1000000")
        for name in ("pages", "objects"):
            if not 0 < getattr(self, name) <= 1e6:
                raise MayflyError(f"web: {name} = {getattr(self, name)}: must be above 0, at most 1e6")
        for name in ("session_gap_s", "start_s", "page_gap_s", "object_gap_s"):
            if not 0 <= getattr(self, name) < math.inf:
                raise MayflyError(f"web: {name} = {getattr(self, name)}: must be 0 or more and finite")
        if not 0 <= self.request_bytes <= 2**40:
            raise MayflyError(f"web: request_bytes = {self.request_bytes}: must be from 0 to 2^40 bytes")
        if self.sessions * (self.pages + 1) * (self.objects + 1) > MOST_PAGES:
            raise MayflyError(
                f"web: sessions = {self.sessions}: must be few enough for {MOST_PAGES} objects, {self.pages} pages of "
                f"{self.objects} objects"
            )


def web_flows(
    web: Web, duration_s: float, seed: int, index: int | str, hosts: tuple[Hosts, Hosts], mss: int, first_stage: int = 0
) -> pl.DataFrame:
    """Draw the flows of web sessions.

    Parameters
    ----------
    web : Web
        The laws.
    duration_s : float
        What could only start later is left out, s, > 0.
    seed : int
        Seed of the run.
    index : int or str
        Number of this entry, which names the streams.
    hosts : pair of sequences
        Servers and clients; a session has one client, a page one server, drawn uniformly.
    mss : int
        Payload of a full packet, bytes.
    first_stage : int
        Smallest number for a stage.

    Returns
    -------
    polars.DataFrame, shape (n_flows, ...)
        Rows of a flow list with ``start_s, size_bytes, src, dst, direction, stage, after, group``; closed loops only
        have stages.

    Examples
    --------
    >>> flows = web_flows(Web(sessions=2, pages=3), 100.0, 1, 0, ([1], [8]), 1000)
    >>> import polars as pl
    >>> bool((flows["after"].drop_nulls() == flows.filter(pl.col("after").is_not_null())["stage"] - 1).all())
    True
    """
    import polars as pl

    def drawn(name: str, count: int) -> Floats:
        return exponential(stream(seed, "web", index, name), count)

    starts = web.start_s + web.session_gap_s * np.concatenate([[0.0], np.cumsum(drawn("sessions", web.sessions - 1))])
    # Sessions that start too late are the last of all streams.
    sessions = max(int(np.searchsorted(starts, duration_s)), 1)
    refuse_flows(sessions * web.pages * web.objects * (1 + (web.request_bytes > 0)), DRAWN_BYTES, "web: objects")
    pages = np.ceil(web.pages * drawn("pages", sessions)).astype(np.int64).clip(min=1)
    session = np.repeat(np.arange(sessions), pages)
    is_first = np.diff(session, prepend=-1) > 0
    read_s = np.where(is_first, 0.0, web.page_gap_s * drawn("page_gaps", len(session)))
    objects = np.ceil(web.objects * drawn("objects", len(session))).astype(np.int64).clip(min=1)
    page = np.repeat(np.arange(len(session)), objects)
    leads = np.diff(page, prepend=-1) > 0
    gaps_s = np.where(leads, 0.0, web.object_gap_s * drawn("object_gaps", len(page)))
    into_page_s = _within(gaps_s, leads, objects)
    # From the start of the session: all there is to an open loop, the earliest there can be to a closed one.
    earliest_s = starts[session] + _within(read_s, is_first, pages)
    if web.closed:
        earliest_s += _within(np.where(is_first, 0.0, np.roll(into_page_s[_lasts(leads)], 1)), is_first, pages)
    senders, receivers = hosts
    sizes = np.ceil(web.law.sample(stream(seed, "web", index, "sizes"), len(page))).clip(min=1).astype(np.int64)
    client = choice(stream(seed, "web", index, "clients"), len(receivers), sessions)
    server = choice(stream(seed, "web", index, "servers"), len(senders), len(session))
    waits = web.closed & ~is_first[page]
    begin_s = np.where(is_first, starts[session], read_s) if web.closed else earliest_s
    frame = pl.DataFrame(
        {
            "start_s": begin_s[page] + into_page_s,
            "size_bytes": (sizes * mss).clip(max=2**40 - 1),
            "src": host_series(senders, senders, receivers).gather(server[page]),
            "dst": host_series(receivers, senders, receivers).gather(client[session[page]]),
            "page": page,
            "waits": waits,
        }
    )
    # A page that loses an object here would end too early, but none that waits for it is left.
    frame = frame.filter(earliest_s[page] + into_page_s < duration_s)
    if not web.closed:
        return frame.select("start_s", "size_bytes", "src", "dst", direction=pl.lit("down"), group=pl.lit(web.group))
    return _looped(frame, web, first_stage)


def _within(gaps: Floats, leads: Booleans, counts: Integers) -> Floats:
    """Sums of the gaps since the start of each run; the gap that leads a run is 0."""
    total = np.cumsum(gaps)
    return total - np.repeat(total[leads], counts)


def _lasts(leads: Booleans) -> Booleans:
    """Whether an element is the last of its run."""
    return np.append(leads[1:], True)


def _looped(frame: pl.DataFrame, web: Web, first_stage: int) -> pl.DataFrame:
    """The rows of a closed loop: pages as stages, and requests ahead of objects."""
    import polars as pl

    stage = first_stage + pl.col("page")
    before = pl.when("waits").then(stage - 1)
    objects = frame.with_columns(
        stage=stage, after=before, direction=pl.lit("down"), group=pl.lit(web.group, pl.String)
    )
    objects = objects.drop("page", "waits")
    if web.request_bytes == 0:
        return objects
    asked = first_stage + int(number(frame["page"].max() or 0)) + 1 + pl.int_range(pl.len())
    requests = objects.with_columns(
        size_bytes=pl.lit(web.request_bytes, pl.Int64),
        src="dst",
        dst="src",
        direction=pl.lit("up"),
        stage=asked,
        group=pl.lit(None, pl.String),
    )
    answers = objects.with_columns(start_s=pl.lit(0.0), after=asked)
    return pl.concat([requests, answers], how="diagonal")
