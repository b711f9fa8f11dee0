"""Web pages over persistent connections, as scripts.

Principle: pages, objects and reading times are those of :mod:`mayfly.workload.sources.web`, in a closed loop; a page
comes on few connections whose ends speak in turn (:mod:`mayfly.workload.scripts`). All connections of a page
are a stage.

- HTTP/1.1 (RFC 9112, 9.3): several connections per page, objects dealt to them in turn; on each, a request waits for
  the answer to the one before (no pipelining).
- HTTP/2-like (RFC 9113): one connection per page; all requests leave at once, the answers come as one train, in frames
  taken from the objects in turn, with a header each. Every object is a part of the train that ends with its last frame.
- HTTP/3 (RFC 9114), over QUIC: one connection per page; every request and its answer have a stream of their own, an
  answer follows its request, and what the network loses of one stream holds up no other. Streams share the connection
  as ``tcp.stream_order`` says. A header of a frame is counted per answer; QPACK and control streams are not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from mayfly.errors import MayflyError
from mayfly.fields import Buffer, Group, Seconds, Section, Whole, as_written
from mayfly.laws.section import SIZES, Sizes
from mayfly.workload.hosts import Hosts
from mayfly.workload.sources.common import FROM, GROUP, TO, TRANSPORT, bytes_of
from mayfly.workload.sources.web import Web, object_law, web_flows

if TYPE_CHECKING:
    import polars as pl

    from mayfly.workload.scripts import Train

FRAME_BYTES = 16_384
"""Largest payload of a frame by default (RFC 9113, 4.2)."""

FRAME_HEADER_BYTES = 9
"""Header of a frame (RFC 9113, 4.1)."""

HTTP3_HEADER_BYTES = 5
"""Headers of the frames HEADERS and DATA of an answer: types, and lengths of 1 and 2 bytes (RFC 9114, 7.1); what
HEADERS holds is counted with the object."""


class HttpSection(Section):
    """Pages over HTTP/1.1, HTTP/2 or HTTP/3, read one after the other; each ends with its last connection."""

    version: Literal["1.1", "2", "3"] = Field(
        "1.1",
        description="persistent connections, a request at a time on each; one connection for all at once; or one of "
        "QUIC with a stream for each object",
    )
    connections: Whole = Field(6, ge=1, le=100, description="connections of a page; HTTP/2 and HTTP/3 have one")
    request: Buffer = Field(as_written("400B"), description="payload of a request: MSS, or bytes")
    think: Seconds = Field(as_written("20ms"), le=3600, description="time of the server before each answer")
    sessions: Whole = Field(10, ge=1, le=1_000_000, description="number of sessions")
    session_gap: Seconds = Field(1.0, description="mean time from the start of a session to the next; exponential")
    start: Seconds = Field(0.0, description="start of the first session")
    pages: float = Field(60, gt=0, le=1e6, description="mean pages of a session; exponential, rounded up")
    page_gap: Seconds = Field(5.0, description="mean time to read a page; exponential")
    objects: float = Field(20, gt=0, le=1e6, description="mean objects of a page; exponential, rounded up")
    mean: float = Field(12, gt=0, description="mean object size, MSS; Pareto II, rounded up")
    shape: float = Field(1.2, gt=1, le=1000, description="tail exponent of the object size")
    sizes: Sizes | None = Field(None, description=f"objects: {SIZES}, in place of mean and shape")
    group: Group = Field(None, description=GROUP)
    transport: Group = Field(None, description=TRANSPORT)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)

    def drawn(self, mss: int, ends: tuple[Hosts, Hosts] | None) -> Http:
        """The source, between the hosts of ``ends``."""
        return Http(
            Web(
                sessions=self.sessions,
                session_gap_s=self.session_gap,
                start_s=self.start,
                pages=self.pages,
                objects=self.objects,
                page_gap_s=self.page_gap,
                law=object_law(self.sizes, self.shape, self.mean, "workload.http.sizes"),
                group=self.group,
                ends=ends,
            ),
            version=self.version,
            connections=self.connections,
            request_bytes=bytes_of(self.request, mss),
            think_s=self.think,
        )


@dataclass(frozen=True)
class Http:
    """Pages fetched by HTTP.

    Parameters
    ----------
    web : Web
        Sessions, pages and objects; its gaps between objects, requests and kind of loop do not count here.
    version : str
        ``"1.1"``, ``"2"`` or ``"3"``.
    connections : int
        Of a page in HTTP/1.1, 1 to 100; HTTP/2 and HTTP/3 have one.
    request_bytes : int
        Payload of a request, bytes, 1 to 10^6.
    think_s : float
        Time the server takes before it answers, s, 0 to 3600.
    """

    kind: ClassVar[str] = "http"

    web: Web = field(default_factory=Web)
    version: str = "1.1"
    connections: int = 6
    request_bytes: int = 400
    think_s: float = 0.02

    @property
    def ends(self) -> tuple[Hosts, Hosts] | None:
        """Servers and clients, where they are not those of the workload."""
        return self.web.ends

    def pages_of(
        self, duration_s: float, seed: int, index: int, hosts: tuple[Hosts, Hosts], mss: int, first_stage: int
    ) -> pl.DataFrame:
        """Rows of the flow list: :func:`http_flows`."""
        return http_flows(self, duration_s, seed, index, hosts, mss, first_stage)

    def __post_init__(self) -> None:
        if self.version not in ("1.1", "2", "3"):
            raise MayflyError(f"http: version = {self.version!r}: must be '1.1', '2' or '3'")
        if not 1 <= self.connections <= 100:
            raise MayflyError(f"http: connections = {self.connections}: must be from 1 to 100")
        if not 1 <= self.request_bytes <= 1_000_000:
            raise MayflyError(f"http: request_bytes = {self.request_bytes}: must be from 1 to 1000000")
        if not 0 <= self.think_s <= 3600:
            raise MayflyError(f"http: think_s = {self.think_s}: must be from 0 to 3600 s")


def frame_ends(sizes_bytes: list[int]) -> list[int]:
    """Where objects end that share a connection frame by frame, in turn.

    Parameters
    ----------
    sizes_bytes : list of int
        Sizes of the objects, bytes, >= 1.

    Returns
    -------
    list of int, shape (n_objects,)
        Bytes up to the end of the last frame of each, with the headers of the frames.

    Examples
    --------
    >>> frame_ends([20_000, 1_000])
    [21027, 17402]
    """
    sizes = np.array(sizes_bytes, np.int64)
    frames, places = -(-sizes // FRAME_BYTES), np.arange(len(sizes))
    ends = []
    for place, rounds in enumerate(frames):
        # Frames sent of each object by then: those behind in the turn have had one turn less.
        sent = np.minimum(frames, rounds - (places > place))
        ends.append(int((np.minimum(sizes, sent * FRAME_BYTES) + sent * FRAME_HEADER_BYTES).sum()))
    return ends


def page_scripts(http: Http, sizes_bytes: list[int]) -> list[list[Train]]:
    """Scripts of the connections that fetch one page.

    Parameters
    ----------
    http : Http
        How.
    sizes_bytes : list of int
        Sizes of the objects, bytes.

    Returns
    -------
    list of list of Train
        One script per connection.

    Examples
    --------
    >>> from mayfly.workload.scripts import column, written
    >>> written(column(page_scripts(Http(connections=2), [1000, 2000, 3000]))).to_list()
    ['up 400 | wait 20ms | down 1000 | up 400 | wait 20ms | down 3000', 'up 400 | wait 20ms | down 2000']
    >>> written(column(page_scripts(Http(version="2"), [1000, 20000]))).to_list()
    ['up 800 | wait 20ms | down 21027 parts 1009,21027']
    >>> written(column(page_scripts(Http(version="3"), [1000, 20000]))).to_list()
    ['up 800 streams 400,400 | wait 20ms | down 21010 streams 1005,20005']
    """
    from mayfly.workload.scripts import Train

    think_ns = round(http.think_s * 1e9)
    if http.version == "2":
        ends = frame_ends(sizes_bytes)
        answer = Train(False, max(ends), think_ns, parts=tuple(ends))
        return [[Train(True, http.request_bytes * len(sizes_bytes)), answer]]
    if http.version == "3":
        asked = tuple(http.request_bytes * count for count in range(1, len(sizes_bytes) + 1))
        came = tuple(accumulate(size + HTTP3_HEADER_BYTES for size in sizes_bytes))
        requests = Train(True, asked[-1], parts=asked, streams=True)
        return [[requests, Train(False, came[-1], think_ns, parts=came, streams=True)]]
    used = min(http.connections, len(sizes_bytes))
    return [
        [
            train
            for size in sizes_bytes[connection::used]
            for train in (Train(True, http.request_bytes), Train(False, size, think_ns))
        ]
        for connection in range(used)
    ]


def http_flows(
    http: Http, duration_s: float, seed: int, index: int, hosts: tuple[Hosts, Hosts], mss: int, first_stage: int = 0
) -> pl.DataFrame:
    """Draw the connections of HTTP pages.

    Parameters
    ----------
    http : Http
        The laws.
    duration_s : float
        What could only start later is left out, s, > 0.
    seed, index : int
        Seed of the run and number of this entry, which name the streams.
    hosts : pair of sequences
        Servers and clients; a session has one client, a page one server, drawn uniformly.
    mss : int
        Payload of a full packet, bytes.
    first_stage : int
        Smallest number for a stage.

    Returns
    -------
    polars.DataFrame, shape (n_connections, ...)
        Rows of a flow list with ``start_s, src, dst, direction, stage, after, group, script``.
    """
    import polars as pl

    from mayfly.workload.scripts import SCRIPT, column

    pages = Web(**{**vars(http.web), "object_gap_s": 0.0, "closed": True, "request_bytes": 0})
    objects = web_flows(pages, duration_s, seed, f"http.{index}", hosts, mss, first_stage)
    if objects.height == 0:
        return objects.drop("size_bytes").with_columns(script=pl.lit(None, SCRIPT))
    whole = objects.group_by("stage", maintain_order=True).agg(
        pl.col("start_s", "src", "dst", "after", "direction", "group").first(), sizes="size_bytes"
    )
    pages_of = [page_scripts(http, sizes) for sizes in whole["sizes"].to_list()]
    rows = [row for row, scripts in enumerate(pages_of) for _ in scripts]
    listed = column(script for scripts in pages_of for script in scripts)
    return whole.drop("sizes")[rows].with_columns(script=listed)
