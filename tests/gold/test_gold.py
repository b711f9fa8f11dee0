"""The gold sees a change of a result, and says what differs."""

import gold
import polars as pl
import pytest


def test_what_differs_has_a_name():
    one = {"a": [1.0, None], "b": {"c": 2}}
    assert list(gold.differences(one, {"a": [1.0 + 1e-10, None], "b": {"c": 2}})) == []
    assert list(gold.differences(one, {"a": [1.0 + 1e-8, None], "b": {"c": 2}})) == ["a[0]: 1.0 / 1.00000001"]
    assert list(gold.differences(one, {"a": [1.0], "b": {"c": 3}})) == ["a: 2 / 1 values", "b.c: 2 / 3"]
    assert list(gold.differences(one, {"b": {"c": 2}})) == [": keys ['a', 'b'] / ['b']"]
    assert list(gold.differences({"c": True}, {"c": 1})) == ["c: True / 1"]


def test_facts_tell_count_missing_sum_and_order():
    assert gold.facts({"b": [1, None, 3], "a": []}) == {"a": "0", "b": "3-1 4 " + gold.digest(b"[1,null,3]")}
    assert gold.facts([1, 2]) != gold.facts([2, 1])


def test_a_column_is_known_by_its_type_and_last_bit():
    frame = pl.DataFrame({"a": [1.0, None]})
    assert gold.table(frame)["a"].startswith("Float64 2-1 1 ")
    assert gold.table(frame) != gold.table(pl.DataFrame({"a": [1.0 + 2**-52, None]}))
    assert gold.table(frame) != gold.table(pl.DataFrame({"a": [1.0, 0.0]}))


def test_a_case_without_gold_fails(monkeypatch):
    monkeypatch.setattr(gold, "WRITES", False)
    with pytest.raises(pytest.fail.Exception, match="no gold in lists"):
        gold.check("lists", "nothing", {"a": 1})
    with pytest.raises(AssertionError, match="1 differences, gold / found\nduration_ns: "):
        found = gold._file("forms")["tiny, replay packets"]
        gold.check("forms", "tiny, replay packets", found | {"duration_ns": found["duration_ns"] + 1})


def test_the_gold_is_small():
    assert sum(path.stat().st_size for path in gold.FOLDER.iterdir()) < 900_000
