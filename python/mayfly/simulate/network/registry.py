"""The kinds of networks: each a class as :class:`mayfly.simulate.network.protocol.Net` has it, and a case here."""

from mayfly.scenario.scenario import Scenario
from mayfly.simulate.network.dumbbell import Dumbbell
from mayfly.simulate.network.protocol import Net


def network_of(scenario: Scenario) -> Net:
    """The network of a scenario.

    Examples
    --------
    >>> from mayfly.scenario.scenario import scenario_of
    >>> network_of(scenario_of({"network": {"rate": "8mbit"}}, "example")).rate_bps
    8000000
    """
    # The modules of the other kinds load the library for tables, which a plain run does without.
    found: Net | None = None
    if scenario.network.wlan is not None:
        from mayfly.simulate.network.cell import cell_of

        found = cell_of(scenario)
    elif scenario.network.topology != "dumbbell":
        from mayfly.simulate.network.graph import graph_of

        found = graph_of(scenario)
    elif scenario.network.tree is not None:
        from mayfly.simulate.network.tree import shaped_of

        found = shaped_of(scenario)
    return found or Dumbbell(scenario.network)
