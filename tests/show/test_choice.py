"""Which of many disciplines come first."""

import pytest

from mayfly.comparison.ordering import MANY, baseline, grouped, leading, leading_sentences, marks


def row(label, family, short_s=1.0, long_s=1.0, spread=0.01, unfinished=0):
    def flows(mean_s):
        return {"mean_s": mean_s, "ci95": None if mean_s is None else [mean_s - spread, mean_s + spread]}

    return {
        "id": label.partition("(")[0],
        "label": label,
        "family": family,
        "short": flows(short_s),
        "long": flows(long_s),
        "flows_unfinished": unfinished,
    }


MIXED = [
    row("red", "queue management", 0.8),
    row("las", "size-based", 0.2),
    row("drr", "fair queueing", 0.6),
    row("fifo", "plain", 1.0),
    row("efd", "size-based", 0.1),
    row("sfq", "fair queueing", 0.5),
    row("pie", "queue management", 0.7),
]


def test_up_to_six_all_lead_in_the_order_written():
    few = MIXED[:MANY]
    assert leading(few) == [r["label"] for r in few]


def test_of_more_the_baseline_and_the_best_of_each_family_lead():
    assert leading([*MIXED, row("codel", "queue management", 0.65), row("x", "another", 3.0)]) == [
        "fifo",
        "efd",
        "sfq",
        "codel",
        "x",
    ]


def test_of_three_families_the_next_best_leads_too():
    assert leading(MIXED) == ["fifo", "las", "efd", "sfq", "pie"]


def test_a_baseline_that_is_not_fifo_leads_its_family():
    rows = [row for row in MIXED if row["id"] != "fifo"] + [row("codel", "queue management", 0.9)]
    assert baseline(rows)["id"] == "red"
    assert leading(rows) == ["red", "pie", "las", "efd", "sfq"]
    assert [name for name, _ in grouped(rows)] == ["queue management", "size-based", "fair queueing"]


def test_of_one_family_five_lead():
    variants = [row(f"efd(threshold={at})", "size-based", 1 - at / 10) for at in range(8)]
    assert leading(variants) == [f"efd(threshold={at})" for at in (0, 4, 5, 6, 7)]


def test_a_discipline_under_which_nothing_finished_leads_nothing():
    rows = [*MIXED[:-1], row("pie", "queue management", None, None)]
    assert leading(rows) == ["fifo", "las", "efd", "sfq", "red"]


def test_nothing_has_no_baseline_and_no_groups():
    assert baseline([]) is None and grouped([]) == [] and leading([]) == []
    assert marks([]) == {"short": {}, "long": {}, "flows_unfinished": {}}


def test_sentences_about_the_others_are_set_apart():
    answer = [f"with {r['label']} the median" for r in MIXED if r["id"] != "fifo"] + ["all of it is simulated"]
    first, rest = leading_sentences({"disciplines": MIXED, "answer": answer})
    assert first == [f"with {name} the median" for name in ("las", "efd", "sfq", "pie")] + ["all of it is simulated"]
    assert sorted(first + rest) == sorted(answer)
    assert leading_sentences({"disciplines": MIXED[:3], "answer": answer[:2]}) == (answer[:2], [])
    assert leading_sentences({"disciplines": MIXED}) == ([], [])


def test_a_label_that_begins_like_another_is_not_taken_for_it():
    rows = [*MIXED, row("efd(threshold=3)", "size-based", 0.3)]
    first, rest = leading_sentences({"disciplines": rows, "answer": ["with efd(threshold=3) x", "with efd x"]})
    assert (first, rest) == (["with efd x"], ["with efd(threshold=3) x"])


def test_means_that_overlap_the_best_are_best_too():
    rows = [row("a", "", 0.10), row("b", "", 0.11), row("c", "", 0.5), row("d", "", 0.9), row("e", "", 0.905)]
    rows += [row("f", "", 0.6)]
    assert marks(rows)["short"] == {"a": "best", "b": "best", "d": "worst", "e": "worst"}


def test_what_most_of_a_column_share_is_not_marked():
    rows = [row("a", "", 0.1), *(row(name, "", 0.9, unfinished=3) for name in "bcdefg")]
    assert marks(rows)["short"] == {"a": "best"} == marks(rows)["flows_unfinished"]


def test_a_column_in_which_best_and_worst_overlap_has_no_marks():
    rows = [row(name, "", 1.0, at, spread=2.0) for at, name in enumerate("abcd")]
    assert marks(rows)["long"] == {}


@pytest.mark.parametrize("count", [1, 2])
def test_two_rows_need_no_marks(count):
    assert marks([row("a", "", 0.1), row("b", "", 9.0)][:count])["short"] == {}


def test_means_without_intervals_and_equal_counts():
    rows = [row(name, "", None if name == "d" else at + 1.0) for at, name in enumerate("abcd")]
    for r in rows:
        r["short"]["ci95"] = None
    assert marks(rows)["short"] == {"a": "best", "c": "worst"}
    assert marks(rows)["flows_unfinished"] == {}
