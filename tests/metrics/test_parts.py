"""Parts of a table are the rows that a filter gives, whether they follow each other or not."""

import polars as pl
import pytest

from mayfly.metrics.size_classes import parts_by

TABLES = {
    "one after another": pl.DataFrame({"of": ["b", "b", "a"], "run": [0, 1, 1], "x": [1, 2, 3]}),
    "mixed": pl.DataFrame({"of": ["b", "a", "b"], "run": [0, 0, 0], "x": [1, 2, 3]}),
    "with nulls": pl.DataFrame({"of": [None, "a", "a"], "run": [None, None, 1], "x": [1, 2, 3]}),
    "empty": pl.DataFrame(schema={"of": pl.String, "run": pl.Int32, "x": pl.Int64}),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("keys", [["of"], ["of", "run"]])
def test_parts_are_those_that_polars_copies(name, keys):
    table = TABLES[name]
    copied = table.partition_by(keys, as_dict=True, maintain_order=True)
    found = parts_by(table, keys)
    assert list(found) == list(copied)
    assert all(found[key].equals(copied[key]) for key in found)


def test_no_key_is_one_part():
    assert parts_by(TABLES["mixed"], [])[()].equals(TABLES["mixed"])
