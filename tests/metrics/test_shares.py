"""Shares and rates of classes follow from the packets counted."""

import pytest

from mayfly.metrics.shares import class_measures, class_rows


def counts(group, arrivals, drops, marks, wire_bytes=1000):
    sent = arrivals - drops
    return {"group": group, "arrivals": arrivals, "drops": drops, "marks": marks, "sent": sent} | {
        "sent_bytes": sent * wire_bytes
    }


def test_shares_are_of_what_was_sent_and_rates_of_what_was_offered():
    measured = class_measures([counts("tcp", 100, 20, 10), counts(None, 400, 80, 0)], 2.0, 4e6)
    assert measured["tcp"] == {
        "share": 0.2,
        "link_share": 0.08,
        "throughput_mbps": 0.32,
        "drop_rate": 0.2,
        "mark_rate": 0.1,
    }
    assert measured[None]["share"] == 0.8


def test_a_class_that_offers_nothing_has_rates_of_zero():
    measured = class_measures([counts("idle", 0, 0, 0)], 1.0, 1e6)["idle"]
    assert set(measured.values()) == {0.0}


def test_replications_are_averaged_and_their_counts_added():
    first, second = (
        [counts("a", 100, 10, 0), counts("b", 100, 10, 0)],
        [counts("a", 200, 20, 2), counts("b", 100, 10, 0)],
    )
    a, b = class_rows([first, second], [1.0, 2.0], 1e6)
    assert (a["arrivals"], a["drops"], a["marks"]) == (300, 30, 2)
    assert a["share"] == pytest.approx((0.5 + 2 / 3) / 2)
    assert a["throughput_mbps"] == pytest.approx(0.72)
    assert a["share_ci95"][0] < a["share"] < a["share_ci95"][1]
    assert a["share"] + b["share"] == pytest.approx(1)
    assert class_rows([first], [1.0], 1e6)[0]["share_ci95"] is None
