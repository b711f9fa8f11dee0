"""The rule of docs/recommendation.md, branch by branch, on constructed summaries."""

import copy
import re
import shlex
from pathlib import Path

import pytest
from invocation import mayfly_here

from mayfly.comparison.recommendation import recommendation, resampled_values
from mayfly.comparison.text import answer_lines
from mayfly.discipline_registry import Discipline, disciplines
from mayfly.discipline_registry.commands import Way, counts_bytes, switch_on
from mayfly.discipline_registry.tc_options import leaves

SPREAD = (0.95, 1.02, 0.99, 1.04, 0.97, 1.01, 1.03, 0.98)
"""What resampled hours change in a figure."""


def row(label, short_s=0.4, ping_ms=100.0, long_s=5.0, mos=3.5, unfinished=0, spread=SPREAD, **more):
    figures = {"short_p95": short_s, "ping_p95": ping_ms, "long_p50": long_s}
    return {
        "id": label.split("(")[0],
        "label": label,
        "options": {},
        "flows_completed": 100 - unfinished,
        "flows_unfinished": unfinished,
        "users": {
            "short": {"flows": 90, "p95_s": short_s},
            "ping": {"probes": 100, "idle_ms": 5.0, "p95_ms": ping_ms},
            "call": {"mos": mos},
            "pages": None,
            "long": {"flows": 10, "p50_s": long_s},
        },
        "links": {
            "down": {"utilisation": 0.57, "peak_utilisation": 1.0},
            "up": {"utilisation": 0.1, "peak_utilisation": 0.4},
        },
        "resampled": {
            **{name: [value * factor for factor in spread] for name, value in figures.items()},
            "call_mos": [mos + factor - 1 for factor in spread],
            "unfinished": [unfinished / 100 for _ in spread],
        },
    } | more


def summary(*rows, load=0.57, hours=8, buffers=((300, "packets"), (300, "packets")), **more):
    link = {"down": {"rate_bps": 20_000_000, "load": load}, "up": {"rate_bps": 5_000_000, "load": 0.1}}
    for way, buffer in zip(link, buffers, strict=True):
        link[way]["buffer"] = list(buffer)
    return {
        "command": "whatif",
        "links": {"busier": "down", **link},
        "resampling": {"hours": hours},
        "disciplines": copy.deepcopy(list(rows)),
    } | more


LOAD = "mayfly qdisc load eth0 --both-ways --down 19mbit --up 4750kbit --discipline {} --buffer 300"
FIFO = row("fifo")
FAIR = row("fq_codel", short_s=0.15, ping_ms=11.0, mos=4.3)


def test_the_answer_says_what_to_use_what_it_gives_what_it_costs_and_how():
    found = recommendation(summary(FIFO, row("fq_codel", short_s=0.15, ping_ms=11.0, mos=4.3, long_s=7.0)))
    assert (found["kind"], found["discipline"], found["runs_on"]) == ("use", "fq_codel", ["kernel"])
    assert found["gives"][0] == "short transfers (95th percentile) 400 -> 150 ms [-62, -62 %]"
    assert "ping under load 100 -> 11.0 ms" in found["gives"][1]
    assert found["costs"] == ["long transfers (median) 5.00 -> 7.00 s [+40, +40 %]"]
    assert found["command"] == LOAD.format("fq_codel")
    assert found["sentence"].startswith(
        "Use fq_codel: it is in your kernel. Short transfers (95th percentile) 400 -> 150"
    )
    assert "; the price: long transfers" in found["sentence"]
    assert found["sentence"].endswith(f"`{found['command']}`")


def test_a_price_that_may_be_chance_is_named_as_such():
    slower = row("fq_codel", short_s=0.15, ping_ms=11.0, mos=4.3, long_s=7.0)
    slower["resampled"]["long_p50"] = [5.0 * factor for factor in (0.5, 2.0, 0.6, 1.9, 1.2, 0.7, 2.2, 0.9)]
    found = recommendation(summary(FIFO, slower))
    assert found["costs"] == []
    assert "; no price that is more than chance (long transfers (median) 5.00 -> 7.00 s [-" in found["sentence"]
    assert "it costs nothing that is felt" in recommendation(summary(FIFO, FAIR))["sentence"]


def test_what_linux_has_goes_before_a_module_that_does_no_better():
    found = recommendation(summary(FIFO, row("efd", short_s=0.148, ping_ms=10.5, mos=4.3), FAIR))
    assert (found["discipline"], found["equal"]) == ("fq_codel", ["efd"])
    assert "Efd does as well." in found["sentence"]


def test_a_module_that_does_better_is_worth_installing():
    found = recommendation(summary(FIFO, FAIR, row("efd", short_s=0.08, ping_ms=10.5, mos=4.3)))
    assert (found["discipline"], found["equal"]) == ("efd", [])
    assert found["command"] == LOAD.format("efd")
    assert "it comes with Mayfly's kernel module" in found["sentence"]


@pytest.mark.parametrize("id", ["srpt", "sift"])
def test_a_bound_and_what_runs_in_simulation_only_are_never_recommended(id):
    found = recommendation(summary(FIFO, FAIR, row(id, short_s=0.01, ping_ms=5.0, mos=4.5)))
    assert found["discipline"] == "fq_codel"
    assert id not in found["sentence"]


def test_a_difference_that_is_too_small_to_notice_is_none():
    # A tenth, sure as it is.
    found = recommendation(summary(FIFO, row("fq_codel", short_s=0.36, ping_ms=92.0, spread=SPREAD)))
    assert (found["kind"], found["discipline"], found["command"]) == ("no_difference", None, None)
    assert found["sentence"] == "No measurable difference between fifo and fq_codel: keep what is there."
    assert found["equal"] == ["fifo", "fq_codel"]


def test_a_difference_that_may_be_chance_is_none():
    wild = row("fq_codel", short_s=0.2, ping_ms=50.0, mos=3.5)
    factors = (0.2, 4.0, 0.5, 3.0, 0.3, 2.5, 1.0, 5.0)
    wild["resampled"] |= {
        name: [value * factor for factor in factors] for name, value in (("short_p95", 0.2), ("ping_p95", 50))
    }
    assert recommendation(summary(FIFO, wild))["kind"] == "no_difference"


def test_worse_ones_are_named_beside_those_that_do_not_differ():
    found = recommendation(summary(FIFO, row("cake"), row("pie", short_s=1.0, mos=2.0)))
    assert found["sentence"].endswith("keep what is there. Pie does worse.")
    found = recommendation(summary(FIFO, row("pie", short_s=1.0, mos=2.0)))
    assert found["sentence"] == "Keep fifo: nothing tried does better."


def idle(label):
    links = {way: {"utilisation": 0.004, "peak_utilisation": 0.2} for way in ("down", "up")}
    return row(label, ping_ms=6.0, short_s=0.1, links=links)


def test_a_link_that_is_never_full_needs_no_discipline():
    found = recommendation(summary(idle("fifo"), idle("fq_codel"), load=0.004))
    assert (found["kind"], found["discipline"]) == ("never_full", None)
    assert found["sentence"] == (
        "This link is never full (0.4 % used, 20 % in its busiest second). No discipline will help."
    )


def test_a_link_that_is_full_in_its_other_direction_is_full():
    rows = idle("fifo"), idle("fq_codel")
    for one in rows:
        one["links"]["up"]["peak_utilisation"] = 0.97
    assert recommendation(summary(*rows, load=0.004))["kind"] == "no_difference"


def test_a_ping_that_waits_says_that_the_link_is_full_at_times():
    rows = idle("fifo"), idle("fq_codel")
    for one in rows:
        one["users"]["ping"]["p95_ms"] = 40.0
    assert recommendation(summary(*rows, load=0.004))["kind"] == "no_difference"


def test_an_overloaded_link_needs_rate_first():
    found = recommendation(summary(row("fifo", unfinished=15), row("fq_codel", unfinished=12, short_s=0.1), load=4.9))
    assert (found["kind"], found["discipline"]) == ("overloaded", "fq_codel")
    assert found["sentence"].startswith(
        "This link is overloaded: 4.9 times its rate comes, and 12 % of transfers or more never finish whatever the "
        "discipline. Buy rate or shed load first. Until then fq_codel does least harm: transfers that never finish"
    )


def test_more_load_than_rate_that_all_gets_through_is_no_overload():
    assert recommendation(summary(FIFO, FAIR, load=1.3))["kind"] == "use"


def test_a_percentile_that_falls_on_what_never_finishes_is_worst():
    starved = row("fifo")
    starved["users"]["short"]["p95_s"] = None
    starved["resampled"]["short_p95"] = [None] * len(SPREAD)
    found = recommendation(summary(starved, FAIR))
    assert found["gives"][0] == "short transfers (95th percentile) never -> 150 ms"


def test_one_run_counts_by_size_alone_and_says_so():
    rows = [one | {"resampled": {}} for one in (FIFO, FAIR)]
    found = recommendation(summary(*rows, hours=0))
    assert found["discipline"] == "fq_codel"
    assert found["doubt"] == "One run: its intervals are of its flows alone, so differences count from a fifth on."


def test_replications_tell_chance_as_resampled_hours_do():
    assert recommendation(summary(FIFO, FAIR, hours=0) | {"replications": 5})["doubt"] == ""


def test_one_criterion_does_not_decide_alone():
    # Short transfers a little better, pings and calls much worse.
    found = recommendation(summary(FIFO, FAIR, row("pie", short_s=0.11, ping_ms=90.0, mos=3.5)))
    assert found["discipline"] == "fq_codel"


def test_without_users_or_with_one_discipline_there_is_no_recommendation():
    assert recommendation(summary(FIFO)) is None
    assert recommendation(summary(*(one | {"users": None} for one in (FIFO, FAIR)))) is None


def test_the_command_has_the_options_of_the_run():
    found = recommendation(summary(FIFO, row("efd(threshold=40kB)", short_s=0.08, options={"threshold": "40000"})))
    assert found["command"] == LOAD.format("'efd(threshold=40000)'")


SHAPED = re.compile(r"(?:bandwidth|htb rate) (\d+)bit")


def rates(lines, device):
    """What a device is shaped to, bit/s."""
    return {int(found[1]) for line in lines if f"dev {device} " in line and (found := SHAPED.search(line))}


def limits(lines, device):
    return {
        found[0] for line in lines if f"dev {device} " in line and (found := re.search(r"(limit|memlimit) \S+", line))
    }


def best(id, **more):
    """A summary of which the rule takes a discipline."""
    worse = row("fifo", short_s=4.0, ping_ms=400.0, mos=1.5, long_s=40.0)
    return recommendation(summary(worse, row(id, short_s=0.05, ping_ms=6.0, mos=4.4, long_s=1.0), **more))


CAN_BE = [
    one["id"]
    for one in disciplines()
    if {"kernel", "module"} & set(one["runs_on"]["places"])
    and one["id"] not in ("fifo", "las", "lasack", "lars", "drr")
]
"""All that can be recommended: not what the others are compared with, bounds, and what no one line switches on."""


@pytest.mark.parametrize("id", CAN_BE)
@pytest.mark.parametrize(
    ("down", "up"),
    [((300, "packets"), (300, "packets")), ((300, "packets"), (150, "packets")), ((450_000, "bytes"),) * 2],
)
def test_the_command_shapes_each_direction_to_its_own_rate_and_buffer(id, down, up):
    """20 Mbit/s down, 5 up: before, eth0 was shaped to the 19 Mbit/s of the other direction, or to nothing."""
    found = best(id, buffers=(down, up))
    assert (found["kind"], found["discipline"] or found["equal"][0]) == ("use", id)
    commands = found["commands"]
    if id == "dualpi2":  # which `mayfly qdisc load` does not know
        assert commands["load"] is None and found["command"].splitlines() == [*commands["up"], *commands["down"]]
    else:
        words = shlex.split(found["command"])
        assert words[:5] == ["mayfly", "qdisc", "load", "eth0", "--both-ways"] and commands["load"] == found["command"]
        ended = mayfly_here(*words[1:], "--dry-run")
        assert (ended.status, ended.err) == (0, "")
        lines = ended.out.splitlines()
        assert rates(lines, "eth0") == {4_750_000} and rates(lines, "ifb4eth0") == {19_000_000}
        assert limits(lines, "eth0") == limits(commands["up"], "eth0")
        assert limits(lines, "ifb4eth0") == limits(commands["down"], "ifb0")
    assert rates(commands["up"], "eth0") == {4_750_000} and rates(commands["down"], "ifb0") == {19_000_000}
    assert (commands["shaped"], commands["arriving"]) == (commands["up"], commands["down"])
    if down[0] != up[0]:
        assert limits(commands["up"], "eth0") != limits(commands["down"], "ifb0")


@pytest.mark.parametrize("id", CAN_BE)
def test_lines_of_tc_change_nothing_that_is_there(id):
    """A replace of the same kind keeps the options that it does not name: what is there is deleted first."""
    found = best(id)["commands"]
    for lines, device in ((found["line"].split("; "), "eth0"), (found["up"], "eth0"), (found["down"], "ifb0")):
        own = [line for line in lines if f"dev {device} " in line and "qdisc" in line and " root" in line]
        assert own[0] == f"tc qdisc del dev {device} root 2>/dev/null"
        assert own[1].startswith(f"tc qdisc add dev {device} root ")
        assert not any("replace" in line or "change" in line for line in lines)
    assert found["down"][-1].startswith("tc filter add dev eth0")  # what arrives finds its queue


@pytest.mark.parametrize("id", ["cake", "fq_codel", "codel", "pie", "fq", "sfq"])
def test_every_option_that_was_simulated_is_named(id):
    found = switch_on(Discipline(id), {"down": Way(10**7, 300, "packets"), "up": Way(10**7, 300, "packets")})
    named = {"cake": ["besteffort", "raw", "nat", "egress", "memlimit 691200", "rtt 100000us", "triple-isolate"]}
    named |= {"fq_codel": ["limit 300", "target 5000us", "interval 100000us", "ecn", "flows 1024", "quantum 1514"]}
    named |= {"codel": ["limit 300", "target 5000us", "ecn"], "pie": ["target 15000us", "tupdate", "alpha", "beta"]}
    named |= {"fq": ["limit 300", "quantum", "flow_limit", "refill_delay"], "sfq": ["divisor", "depth", "perturb"]}
    assert [word for word in named[id] if word not in found.up[-1]] == []


def test_what_the_kernel_counts_is_known_to_the_rule():
    """`recommendation/load.rs` says which limits may be in bytes, and what `mayfly qdisc load` has."""
    for id in CAN_BE:
        command = best(id, buffers=((450_000, "bytes"), (450_000, "bytes")))["commands"]["load"]
        assert (command is not None) == (id in leaves()), id
        if command:
            assert command.endswith("--buffer 450kB" if counts_bytes(id) else "--buffer 297"), id


def test_a_guess_has_three_digits_in_all_commands():
    found = summary(FIFO, FAIR, guess={"rate_bps": 1}, buffers=((143_995, "bytes"),) * 2)
    found["links"]["down"]["rate_bps"], found["links"]["up"]["rate_bps"] = 19_791_522, 998_765
    found = recommendation(found)
    assert "--down 18.8mbit --up 949kbit --discipline fq_codel --buffer 95" in found["command"]
    assert rates(found["commands"]["up"], "eth0") == {949_000}
    assert rates(found["commands"]["down"], "ifb0") == {18_800_000}


def test_the_terminal_says_only_what_its_command_does():
    told = summary(FIFO, FAIR)
    lines = answer_lines(told | {"recommendation": recommendation(told)})
    assert lines[0].endswith(f"`{LOAD.format('fq_codel')}`")
    assert lines[1].startswith("It shapes both directions of eth0 to 95 % of the link's rates")
    assert lines[2].startswith("The figures are of the discipline at the link itself")
    # The lines of tc are as many as ten: the terminal says where they are, the report and the summary have them.
    assert "--dry-run" in lines[3] and "recommendation.commands" in lines[3]
    assert lines[4].startswith(
        "If eth0 is itself the bottleneck of what it sends, no shaper is needed: `tc qdisc del dev"
    )
    told = summary(FIFO, row("cake", short_s=0.15, ping_ms=11.0, mos=4.3))
    commands = recommendation(told)["commands"]
    assert "cake bandwidth 4750000bit" in commands["up"][-1]
    assert any("dev ifb0 root handle 6d66: cake bandwidth 19000000bit" in line for line in commands["down"])


def test_a_synthetic_workload_has_a_fastest_and_no_advice():
    told = summary(FIFO, FAIR, command="compare")
    found = recommendation(told)
    assert (found["kind"], found["discipline"], found["command"]) == ("fastest", "fq_codel", LOAD.format("fq_codel"))
    assert found["sentence"].startswith("Fastest here: fq_codel. Short transfers") and "`" not in found["sentence"]
    assert answer_lines(told | {"recommendation": found})[1:] == [""]


def test_a_module_has_to_do_better_by_a_doubling_where_one_run_is_all():
    rows = [one | {"resampled": {}} for one in (FIFO, FAIR, row("efd", short_s=0.08, ping_ms=10.5, mos=4.3))]
    found = recommendation(summary(*rows, hours=0))
    assert found["discipline"] == "fq_codel"
    assert "Efd does better by too little to be worth a module." in found["sentence"]
    assert recommendation(summary(*rows, hours=0, command="compare"))["discipline"] == "efd"


@pytest.mark.parametrize("id", ["las", "lasack", "lars"])
def test_what_remembers_every_flow_is_a_bound(id):
    bound = row(id, short_s=0.01, ping_ms=10.0, mos=4.4)
    found = recommendation(summary(FIFO, FAIR, bound))
    assert found["discipline"] == "fq_codel" and id not in found["sentence"]
    found = recommendation(summary(FIFO, FAIR, bound, command="compare"))
    assert (found["discipline"], found["command"]) == (id, None)
    assert found["sentence"].endswith(
        f"{id.capitalize()} remembers every flow: take it as a bound, not as a candidate."
    )
    said = (Path(__file__).parents[2] / "docs/how-to/choose.md").read_text(encoding="utf-8")
    assert f"`{id}`" in said


def test_lost_streams_are_a_criterion_where_they_are_counted():
    rows = copy.deepcopy([row("fifo"), row("fq_codel")])
    for one, loss in zip(rows, (0.06, 0.0), strict=True):
        one["users"]["streams"] = {"count": 3, "missing": loss}
        one["resampled"]["stream_missing"] = [loss + 0.001 * at for at in range(8)] if loss else [0.0] * 8
    assert recommendation(summary(*rows))["gives"] == ["lost or late packets of UDP streams 6.0 -> 0.0 %"]
    assert resampled_values([FIFO, FIFO])["short_p95"] == [0.4, 0.4] and "stream_missing" not in resampled_values(
        [FIFO]
    )
    assert resampled_values(rows)["stream_missing"] == [0.06, 0.0]


def test_a_third_discipline_does_not_decide_between_two():
    cake = row("cake", short_s=0.09, ping_ms=14.0, long_s=5.4)
    fair = row("fq_codel", short_s=0.14, ping_ms=13.0, long_s=3.4)
    one = recommendation(summary(FIFO, fair, cake))["discipline"]
    for third in (
        row("pie", short_s=0.02, ping_ms=400.0, long_s=40.0),
        row("red", short_s=9.0, ping_ms=400.0, long_s=0.6),
    ):
        assert recommendation(summary(FIFO, fair, cake, third))["discipline"] == one
