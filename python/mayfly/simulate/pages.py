"""Web sessions and HTTP pages of a scenario, as the workload takes them."""

from collections.abc import Sequence

from mayfly.laws.pareto import ParetoII
from mayfly.laws.sizes import SizeLaw
from mayfly.scenario.scenario import Http, Web
from mayfly.simulate.network.protocol import Net
from mayfly.workload.sources import http, web


def web_sessions(given: Sequence[Web], mss: int, net: Net) -> list[web.Web]:
    """Web sessions of a scenario as the workload takes them.

    Parameters
    ----------
    given : sequence of WebSection
        Sections ``[workload.web]``.
    mss : int
        Payload of a full segment, bytes.
    net : Net
        The network.

    Returns
    -------
    list of Web
        One per section.
    """
    return [
        web.Web(
            sessions=w.sessions,
            session_gap_s=w.session_gap,
            start_s=w.start,
            pages=w.pages,
            objects=w.objects,
            page_gap_s=w.page_gap,
            object_gap_s=w.object_gap,
            law=_objects(w, "workload.web.sizes"),
            closed=w.loop == "closed",
            request_bytes=0 if w.request is None else w.request[0] * (1 if w.request[1] == "bytes" else mss),
            group=w.group,
            ends=net.ends(w.from_, w.to),
        )
        for w in given
    ]


def http_sessions(given: Sequence[Http], mss: int, net: Net) -> list[http.Http]:
    """HTTP pages of a scenario as the workload takes them.

    Parameters
    ----------
    given : sequence of Http
        Sections ``[workload.http]``.
    mss : int
        Payload of a full segment, bytes.
    net : Net
        The network.

    Returns
    -------
    list of Http
        One per section.
    """
    return [
        http.Http(
            web.Web(
                sessions=h.sessions,
                session_gap_s=h.session_gap,
                start_s=h.start,
                pages=h.pages,
                objects=h.objects,
                page_gap_s=h.page_gap,
                law=_objects(h, "workload.http.sizes"),
                group=h.group,
                ends=net.ends(h.from_, h.to),
            ),
            version=h.version,
            connections=h.connections,
            request_bytes=h.request[0] * (1 if h.request[1] == "bytes" else mss),
            think_s=h.think,
        )
        for h in given
    ]


def _objects(given: Web | Http, where: str) -> SizeLaw:
    """Law of the object sizes."""
    if given.sizes is not None:
        return given.sizes.drawn(where)
    return ParetoII.solve(shape=given.shape, mean=given.mean)
