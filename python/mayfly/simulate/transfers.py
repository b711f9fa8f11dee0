"""Transfers of a scenario, as the workload takes them."""

from mayfly.errors import MayflyError
from mayfly.laws import registry as laws
from mayfly.laws.sizes import SizeLaw
from mayfly.scenario.scenario import Workload
from mayfly.simulate.network.protocol import Net
from mayfly.workload.renewal import Arrivals, Poisson, Recorded, WeibullGaps
from mayfly.workload.sources.transfers import Part, Transfers


def transfers_of(given: Workload, net: Net) -> Transfers | None:
    """Transfers of a scenario as the workload takes them.

    Parameters
    ----------
    given : Workload
        Section ``[workload]``.
    net : Net
        The network.

    Returns
    -------
    Transfers or None
        None when the scenario has no transfers.

    Raises
    ------
    MayflyError
        A law that cannot be.
    """
    if given.load is None and given.arrivals != "trace":
        return None
    return Transfers(
        _sizes(given),
        given.load,
        up_share=given.up_share,
        exact_load=given.exact_load,
        users=given.users,
        group=given.group,
        ends=net.ends(given.from_, given.to),
        arrivals=_arrivals(given),
        parts=tuple(Part(part.share, part.up_share, part.rtt, part.group) for part in given.part),
    )


def _sizes(given: Workload) -> SizeLaw:
    if given.sizes is not None:
        return given.sizes.drawn("workload.sizes")
    flat = {name: getattr(given, name) for name in ("minimum", "maximum", "mean", "cov")}
    try:
        return laws.law_of(given.law, flat)
    except MayflyError as error:
        if given.law in ("zipf", "pareto"):
            raise
        # A field of a ready scenario cannot be unset; the table replaces all of them.
        raise MayflyError(f"workload: {error}; or give workload.sizes, which replaces these fields") from None


def _arrivals(given: Workload) -> Arrivals:
    if given.arrivals == "weibull":
        return WeibullGaps(given.arrival_shape)
    return Recorded(given.arrival_file) if given.arrivals == "trace" else Poisson()
