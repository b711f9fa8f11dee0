"""`mayfly qdisc load` and `unload` in the real kernel: nothing is left of them, whatever ends them; the rates hold."""

import guest
import pytest

from mayfly.engines.guest import series

pytestmark = pytest.mark.kernel

# What somebody may have at the root, and whether the load takes its place without being told to.
BEFORE = {
    "nothing": [],
    "pfifo_fast": ["tc qdisc replace dev eth0 root handle 8001: pfifo_fast"],
    "fq_codel": ["tc qdisc replace dev eth0 root handle 1: fq_codel limit 500 flows 256 interval 120ms noecn"],
    "cake": ["tc qdisc replace dev eth0 root handle 7: cake bandwidth 50mbit nat overhead 18 mpu 64 rtt 30ms"],
    "fq": ["tc qdisc replace dev eth0 root handle 2: fq limit 777 maxrate 40mbit"],
    "tbf": ["tc qdisc replace dev eth0 root handle 3: tbf rate 30mbit burst 10000 limit 30000"],
    "a hook": ["tc qdisc add dev eth0 clsact"],
}
TREE = [
    "tc qdisc add dev eth0 root handle 1: htb default 10",
    "tc class add dev eth0 parent 1: classid 1:10 htb rate 5mbit",
    "tc qdisc add dev eth0 parent 1:10 handle 10: pfifo limit 33",
]
CAKE = {"discipline": "cake", "both_ways": True, "down": "20mbit", "up": "5mbit", "offloads": False}
BELOW_HTB = CAKE | {"discipline": "fq_codel", "overhead": "18"}
ONE_WAY = {"discipline": "efd", "rate": "5mbit"}
OWN_SHAPERS = ["cake", *(["lfq"] if '"bandwidth"' in (guest.KERNEL / "tc" / "q_lfq.c").read_text() else [])]


def experiment(what: str, load: dict, **settings) -> dict:
    module = {"efd": "sch_efd", "lfq": "sch_lfq"}.get(load["discipline"])
    return guest.run("loads.py", {"what": what, "load": load} | settings, modules=(module,) if module else ())


TRIPS = {
    **{f"cake over {before}": (CAKE, before) for before in BEFORE},
    **{f"fq_codel over {before}": (BELOW_HTB, before) for before in ("nothing", "cake")},
    **{f"efd over {before}, one way": (ONE_WAY, before) for before in ("nothing", "fq_codel")},
}


@pytest.mark.parametrize(("load", "before"), TRIPS.values(), ids=TRIPS)
def test_a_round_trip_leaves_all_as_it_was(load, before):
    found = experiment("round_trip", load, before=BEFORE[before])
    assert [ended[0] for ended in found["ended"]] == ["done", "done", "done", "refused"], found["ended"]
    assert found["loaded"] != found["before"] and "6d66:" in found["loaded"]["qdiscs"]
    assert found["reloaded"] == found["loaded"]
    assert found["after"] == found["before"]
    assert found["journals"] == []


@pytest.mark.skipif(series() != "newest", reason="cake_mq is in Linux 7.0 and later: MAYFLY_KERNEL=newest")
def test_cake_mq_and_the_queues_below_it_come_back():
    before = ["tc qdisc replace dev eth0 root handle 7: cake bandwidth 50mbit nat overhead 18 mpu 64 rtt 30ms"]
    found = experiment("round_trip", CAKE, before=before, kind="cake_mq", queues=4)
    assert [ended[0] for ended in found["ended"]] == ["done", "done", "done", "refused"], found["ended"]
    assert found["before"]["qdiscs"].count("qdisc cake 0: dev eth0 parent 7:") == 4
    assert "cake_mq" not in found["loaded"]["qdiscs"] and "6d66:" in found["loaded"]["qdiscs"]
    assert found["after"] == found["before"] and found["journals"] == []


def test_what_cannot_be_put_back_stays_unless_told():
    found = experiment("round_trip", CAKE, before=TREE)
    assert found["ended"][0][0] == "refused"
    assert "eth0: has htb 1: configured, which could not be put back; --replace" in found["ended"][0][1]
    assert found["loaded"] == found["after"] == found["before"]
    found = experiment("round_trip", CAKE, before=TREE, replace=True)
    assert [ended[0] for ended in found["ended"]] == ["done", "done", "done", "refused"], found["ended"]
    assert "htb" not in found["after"]["qdiscs"] and "6d66:" not in found["after"]["qdiscs"]


@pytest.mark.parametrize(("of", "fewest"), [("load", 7), ("unload", 4)], ids=["load", "unload"])
@pytest.mark.parametrize(("load", "before"), [(CAKE, "fq_codel"), (BELOW_HTB, "nothing")], ids=["cake", "fq_codel"])
def test_killed_at_any_step_the_next_command_mends_it(load, before, of, fewest):
    trials = experiment("killed", load, before=BEFORE[before], of=of)["trials"]
    for trial in trials:
        assert trial["changed"] == {} and trial["left"] == [], trial
        assert trial["journals"] == 1, trial
        assert all(ended == "done" for ended, _ in trial["mended"]), trial
    for when in ("before", "after"):
        ended = [trial["ended"] for trial in trials if trial["at"][0] == when]
        # Each of its steps was one to be killed at, and then it came to its end.
        assert len(ended) > fewest and ended == ["killed"] * (len(ended) - 1) + ["done"], (when, ended)


def test_two_loads_of_an_interface_are_never_at_work_at_once():
    found = experiment("two_at_once", CAKE)
    assert found["busy"] == ["refused", "eth0: another mayfly qdisc load or unload is at work there"]
    assert found["unloading"] == found["busy"]
    assert found["free"] == ["done", ""]


@pytest.mark.parametrize("discipline", [*OWN_SHAPERS, "fq_codel"])
def test_both_directions_are_shaped_to_their_rates(discipline):
    load = CAKE | {"discipline": discipline, "down": "4mbit", "up": "1mbit"}
    found = experiment("rates", load)
    up, down = found["eth0"], found["ifb4eth0"]
    # Frames as Linux counts them: without a word on overhead all shapers do. In 10 s a packet more or less is 0.12 % of
    # the slower rate. Below the faster one TCP leaves a gap now and then.
    assert abs(up["bps"] / 1e6 - 1) < 0.01, found
    if discipline in OWN_SHAPERS:
        # This end of the link is the wrong one for what arrives: what was dropped here had come through the link too.
        assert abs((down["bps"] + down["dropped_bps"]) / 4e6 - 1) < 0.01, found
    else:
        assert -0.03 < down["bps"] / 4e6 - 1 < 0.01, found
