"""The rule of docs/recommendation.md, branch by branch, on constructed summaries."""

import copy

import pytest

from mayfly.comparison.recommendation import recommendation

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


def summary(*rows, load=0.57, hours=8):
    return {
        "scenario": {"network": {"rate": 10_000_000, "buffer": [300, "packets"], "topology": "dumbbell"}},
        "links": {"busier": "down", "down": {"load": load}, "up": {"load": 0.1}},
        "resampling": {"hours": hours},
        "disciplines": copy.deepcopy(list(rows)),
    }


FIFO = row("fifo")
FAIR = row("fq_codel", short_s=0.15, ping_ms=11.0, mos=4.3)


def test_the_answer_says_what_to_use_what_it_gives_what_it_costs_and_how():
    found = recommendation(summary(FIFO, row("fq_codel", short_s=0.15, ping_ms=11.0, mos=4.3, long_s=7.0)))
    assert (found["kind"], found["discipline"], found["runs_on"]) == ("use", "fq_codel", ["kernel"])
    assert found["gives"][0] == "short transfers (95th percentile) 400 -> 150 ms [-62, -62 %]"
    assert "ping under load 100 -> 11.0 ms" in found["gives"][1]
    assert found["costs"] == ["long transfers (median) 5.00 -> 7.00 s [+40, +40 %]"]
    assert found["command"] == "tc qdisc replace dev eth0 root fq_codel limit 300"
    assert found["sentence"].startswith(
        "Use fq_codel: it is in your kernel. Short transfers (95th percentile) 400 -> 150"
    )
    assert "; the price: long transfers" in found["sentence"]
    assert found["sentence"].endswith("`tc qdisc replace dev eth0 root fq_codel limit 300`")


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
    assert found["command"] == "mayfly qdisc load eth0 --rate 9500kbit --buffer 300 --discipline efd"
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
    assert '--discipline "efd(threshold=40000)"' in found["command"]
