"""Trees of shapers for tests: scenarios with circuits, and flows that are the same in every part."""

from collections.abc import Callable, Sequence

import polars as pl

from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.trees.flows import Drawn


def scenario_of_tree(tree: dict, duration: str = "20s", **fields: object) -> Scenario:
    """The household's scenario with a tree."""
    frame = load_scenario("household", {"duration": duration, **fields})
    network = frame.network.model_dump(exclude_unset=True) | {"tree": tree}
    return frame.override(network=network)


def households(scenario: Scenario, **fields: object) -> Callable[[Sequence], pl.DataFrame]:
    """A household for each circuit of the scenario's tree."""
    plain = load_scenario("household", {"duration": scenario.duration, "seed": scenario.seed, **fields})
    return Drawn(plain, scenario.network.tree.circuit)
