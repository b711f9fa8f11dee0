"""The kinds of networks: each a class as :class:`mayfly.simulate.network.protocol.Net` has it, and a row here."""

from collections.abc import Callable

from mayfly.scenario.scenario import Scenario
from mayfly.simulate.network.cell import cell_of
from mayfly.simulate.network.dumbbell import Dumbbell
from mayfly.simulate.network.graph import graph_of
from mayfly.simulate.network.protocol import Net
from mayfly.simulate.network.tree import shaped_of

KINDS: tuple[Callable[[Scenario], Net | None], ...] = (
    cell_of,
    graph_of,
    shaped_of,
    lambda scenario: Dumbbell(scenario.network),
)
"""Each gives the network of a scenario of its kind, None of another; the first that gives one has it."""


def network_of(scenario: Scenario) -> Net:
    """The network of a scenario.

    Examples
    --------
    >>> from mayfly.scenario.scenario import scenario_of
    >>> network_of(scenario_of({"network": {"rate": "8mbit"}}, "example")).rate_bps
    8000000
    """
    return next(network for network in (kind(scenario) for kind in KINDS) if network is not None)
