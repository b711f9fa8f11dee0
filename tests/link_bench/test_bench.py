"""The bench of set-ups on a trace."""

import pytest

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from mayfly.errors import MayflyError
from mayfly.link_bench.bench import bench
from mayfly.link_trace.files import write_trace
from mayfly.link_trace.trace import of_steps


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "steps.csv"
    write_trace(of_steps("steps", [0.0, 15.0], [20e6, 6e6], 30.0), path)
    return bench(path, flows=3)


def test_every_set_up_has_its_share_and_its_ping(found):
    rows = {row["name"]: row for row in found.rows}
    assert list(rows)[:2] == ["no shaper, fifo", "no shaper, fq_codel"]
    assert list(rows)[-1] == "autorate, fq_codel"
    assert all(0 < row["share"] <= 1 and row["ping"]["p50_ms"] >= 40 for row in found.rows)


def test_a_constant_shaper_costs_the_rate_above_it(found):
    rows = {row["name"]: row for row in found.rows}
    half = rows["shaper at 50 % of the mean, fq_codel"]
    # 6.5 Mbit/s while the link has 20, and 6 while it has 6.
    assert half["goodput_bps"] < (6.5e6 + 6e6) / 2
    assert rows["no shaper, fifo"]["goodput_bps"] > 1.5 * half["goodput_bps"]


def test_the_advice_comes_first_and_names_a_row(found):
    assert found.sentences()[0] == found.advice
    assert any(row["name"] in found.advice for row in found.rows)
    assert found.sentences()[-1].startswith("The trace: ")
    assert found.headlines() == found.sentences()[1:]
    assert len(found.table().rows) == len(found.rows) == len(found.document()["rows"])


@pytest.mark.parametrize(
    ("options", "says"),
    [({"rtt": "1ms"}, "rtt = 1ms"), ({"flows": 0}, "flows = 0"), ({"shaped": "nothing"}, "nothing")],
)
def test_what_cannot_be_is_refused(tmp_path, options, says):
    write_trace(of_steps("one", [0.0], [5e6], 5.0), tmp_path / "one.csv")
    with pytest.raises(MayflyError, match=says):
        bench(tmp_path / "one.csv", **options)
