"""The fluid engine against closed forms, and beside packets."""

import numpy as np
import pytest

from mayfly.comparison.streamed import simulate_stream
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.laws.service import Discrete
from mayfly.models.queue.flow_records import Link
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import policy
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.fluid import run_fluid, service_of
from mayfly.simulate.streamed import source_of

LONG = {"duration": "40000s", "workload.load": "7mbit"}


def fluid(name: str, changes=LONG, path: bool = False):
    scenario = load_scenario("wired", changes)
    return scenario, run_fluid(scenario, parse(name), source_of(scenario, None), path=path)[1]


@pytest.mark.parametrize(("discipline", "standing"), [("fifo", "ps"), ("las", "las"), ("srpt", "srpt")])
def test_means_by_size_are_those_of_the_closed_form(discipline, standing):
    scenario, found = fluid(discipline)
    link = Link(scenario.network.rate, scenario.duration)
    drawn = np.concatenate([flows["size_bytes"].to_numpy() for flows in source_of(scenario, None).batches])
    packets, counts = np.unique(drawn // 1460, return_counts=True)
    work = link.wire_bytes(packets.astype(float))
    rho = float((work * counts).sum() * 8 / scenario.network.rate / scenario.duration)
    queue = MG1(Discrete(work, counts / counts.sum()), rho)
    expected = policy(standing).response(queue, work) * link.byte_s
    for part in found["by_size"]:
        own = (packets >= part["from_packets"]) & (packets < part["below_packets"])
        mean = float((expected[own] * counts[own]).sum() / counts[own].sum())
        half = (part["ci95"][1] - part["ci95"][0]) / 2 if part["ci95"] else 0.0
        # Flows of one busy period are not independent: the interval over flows is too narrow by some.
        assert abs(part["mean_s"] - mean) <= 8 * half + 0.02 * mean, (part, mean)


def test_processor_sharing_is_insensitive():
    """Kleinrock 1976, 4.4: x / (1 - rho) for every size."""
    scenario, found = fluid("fifo", LONG | {"workload.exact_load": True})
    ratios = []
    for part in found["by_size"]:
        work = part["mean_size_packets"] * 1500 + 160
        ratios.append(part["mean_s"] / (work * 8 / scenario.network.rate))
    # Long flows lose what the end of the run cuts off; the classes below have thousands of flows.
    assert np.ptp(ratios[:6]) / np.mean(ratios[:6]) < 0.1, ratios


def test_levels_lags_and_what_has_no_fluid():
    scenario = load_scenario("wired")
    assert service_of(scenario, parse("drr"))[0] == "ps"
    name, levels, lags = service_of(scenario, parse("lfq"))
    assert (name, levels) == ("lfq", []) and lags is not None and lags[3]
    assert [order for order, _ in service_of(scenario, parse("run2c"))[1]] == ["ps", "ps"]
    with pytest.raises(MayflyError, match="has no fluid"):
        service_of(scenario, parse("red"))


def test_an_answer_of_both_engines_has_the_errors_of_the_fluid(tmp_path):
    scenario = load_scenario("wired", {"duration": "300s"})
    for name in ("las", "lfq"):
        found = simulate_stream(scenario, name, tmp_path / name, records=False, engine="both").document()
        errors = found["fluid_errors"]
        assert found["fluid"]["all"]["flows"] > 1000 and len(errors) >= 5
        # Short transfers, which no loss and no window holds up much, are what the fluid is good for.
        assert all(abs(part["error"]) < 0.5 for part in errors[:4]), errors
