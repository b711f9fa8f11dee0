"""Workloads of real programs: the same users for the same seed, half kept aside, nothing the guest does not know."""

import re
from pathlib import Path

import pytest

from mayfly.errors import MayflyError
from mayfly.verify import real
from mayfly.verify.workloads import BY_ID, WORKLOADS

PROGRAMS = Path(__file__).parents[2] / "kernel" / "uml" / "programs.py"


def test_there_are_twelve_and_half_are_kept_aside():
    assert len(WORKLOADS) == len(BY_ID) == 12
    assert sum(workload.kept_aside for workload in WORKLOADS) == 6


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda one: one.id)
def test_a_seed_gives_the_same_users(workload):
    first, again, other = (workload.actors_of(seed) for seed in (1, 1, 2))
    assert first == again != other
    assert workload.clients == 1 + max(actor["client"] for actor in other)
    # A ping measures in each of them.
    assert [actor["steps"][0]["program"] for actor in first].count("ping") == 1


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda one: one.id)
def test_the_guest_has_every_program_and_server_of_a_step(workload):
    text = PROGRAMS.read_text(encoding="utf-8")
    clients = set(
        re.findall(r'^    "(\w+)": \w+,$', text.partition("\nCLIENTS: ")[2].partition("\n}")[0], re.MULTILINE)
    )
    steps = [step for actor in workload.actors_of(1) for step in actor["steps"]]
    assert {step["program"] for step in steps} <= clients
    assert all(0 <= step["server"] < len(workload.rtts_s) for step in steps)
    assert all(step.get("think_s", 0.0) >= 0 for step in steps)


def test_a_program_that_is_not_there_is_named(monkeypatch):
    steps = [step for actor in BY_ID["idle"].actors_of(1) for step in actor["steps"]]
    monkeypatch.setattr(real, "PATH", "/nowhere")
    with pytest.raises(MayflyError, match=r"^not installed: curl, dig, dnsmasq, dovecot, nginx, ping, tcpdump: docs/"):
        real.refuse_missing(steps)
