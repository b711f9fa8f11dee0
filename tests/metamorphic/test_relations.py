"""Runs that must give the same figures, of random links: ``make test-metamorphic`` runs all, the fast lane a tenth."""

import os

import pytest
from drawn_links import DISCIPLINES, PRESETS, drawn, parameters, ran
from relations import RELATIONS

FIRST = int(os.environ.get("MAYFLY_FIRST_LINK", "0"))
"""Number of the first link; another one draws others."""
TURNS = len(PRESETS)
"""Links of each discipline: one with each preset."""


def links(turn: int) -> range:
    """Numbers of the links of a turn, one of each discipline."""
    return range(FIRST + turn * len(DISCIPLINES), FIRST + (turn + 1) * len(DISCIPLINES))


@pytest.mark.parametrize("turn", [0, *(pytest.param(turn, marks=pytest.mark.slow) for turn in range(1, TURNS))])
def test_every_relation_holds_for_a_link_of_each_discipline(turn):
    wrong = {}
    for number in links(turn):
        one = drawn(number)
        base = ran(one)
        for relation in RELATIONS:
            if relation.holds_of(one) and (found := relation.differences(one, base)):
                wrong[relation.id, number, one.kind, one.discipline, one.preset] = found[:3]
    assert not wrong


def test_there_are_more_than_a_thousand_pairs_of_a_link_and_a_relation():
    drawn_ = [drawn(number) for turn in range(TURNS) for number in links(turn)]
    pairs = {relation.id: sum(map(relation.holds_of, drawn_)) for relation in RELATIONS}
    assert min(pairs.values()) >= 100, pairs
    assert sum(pairs.values()) >= 2500, pairs


def test_each_discipline_meets_each_preset():
    met = {(one.discipline, one.preset) for turn in range(TURNS) for one in map(drawn, links(turn))}
    assert len(met) == len(DISCIPLINES) * len(PRESETS)


def test_what_links_carry_reaches_queues_and_losses():
    """Relations of runs in which nothing happens would hold by themselves."""
    flows = [row for number in links(0) for row in ran(drawn(number)).values()]
    for figure in ("drops", "retransmits", "timeouts"):
        assert sum(row[figure] > 0 for row in flows) >= 10, figure
    assert any(row["response_time_s"] is None for row in flows)


def test_some_of_what_links_carry_is_marked():
    of_ecn = [one for one in map(drawn, range(FIRST, links(TURNS).start)) if "tcp.ecn" in one.overrides]
    marking = [one for one in of_ecn if "ecn" in parameters(one.discipline)]
    assert len(marking) >= 5
    assert sum(row["marks"] > 0 for one in marking for row in ran(one).values()) >= 3
