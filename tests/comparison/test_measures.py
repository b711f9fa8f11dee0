"""The one list of users' measures: what reads it, and what the docs say of it."""

import json
import re
from pathlib import Path

import pytest

from mayfly import _native
from mayfly.comparison.user_metrics import BY_ID, MEASURES

DOCS = Path(__file__).parents[2] / "docs"
LISTED = json.loads(_native.measures())
SUMMARY, _ = json.loads(_native.summary_schema())
CRITERIA = [row for row in LISTED if row["noticed"]]


def row_of(measure, value):
    """A row of a summary with one figure; a quarter where it is of the row itself."""
    if not measure["part"]:
        return {"id": "fifo", "label": "fifo", "flows_completed": 75, "flows_unfinished": 25}
    return {"id": "fifo", "label": "fifo", "users": {measure["part"]: {measure["field"]: value, "flows": 100}}}


def test_the_package_has_every_measure_of_users():
    assert [measure.id for measure in MEASURES] == [row["id"] for row in LISTED if row["part"]]
    assert {measure.better for measure in MEASURES} == {"less", "more"}
    assert BY_ID["ping_p95"].phrase == "p95 of ping under load" and BY_ID["call_mos"].better == "more"


@pytest.mark.parametrize("measure", CRITERIA, ids=lambda row: row["id"])
def test_a_criterion_is_read_by_the_names_of_the_list(measure):
    found = dict(_native.criteria(json.dumps([row_of(measure, 0.25)]))[0])
    assert found.pop(measure["id"]) == 0.25
    # The other percentile of the same transfers falls on what never ends.
    assert set(found.values()) <= {float("inf")}


@pytest.mark.parametrize("measure", CRITERIA, ids=lambda row: row["id"])
def test_the_docs_have_every_criterion(measure):
    field = f"`users.{measure['part']}.{measure['field']}`" if measure["part"] else "`flows_unfinished`"
    assert any(field in line for line in (DOCS / "recommendation.md").read_text().splitlines() if line.startswith("| "))


@pytest.mark.parametrize("measure", [row for row in LISTED if row["part"]], ids=lambda row: row["id"])
def test_the_type_of_the_summary_has_every_field(measure):
    part = SUMMARY["UserFigures"]["properties"][measure["part"]]
    [name] = re.findall(r"#/\$defs/(\w+)", json.dumps(part))
    keys = [measure[key] for key in ("field", "interval", "whole") if measure[key]]
    assert {*keys} <= SUMMARY[name]["properties"].keys()
