"""Loss, queueing delay, active flows and playout in the report, from real runs."""

import re

import polars as pl
import pytest
from sections import html_of
from synthetic import flow_records, summary_of

from mayfly.comparison.comparison import compare
from mayfly.comparison.figures.congestion import active_figure, loss_figure
from mayfly.comparison.figures.streams import delivery_figure, departures_figure, playout_figure
from mayfly.comparison.page import page_text
from mayfly.comparison.sections import congestion
from mayfly.scenario.scenario import load_scenario
from mayfly.show.palette import styles

STYLES = styles(["fifo", "las"])


@pytest.fixture(scope="module")
def result():
    cbr = [{"rate": "64kbit", "packet": 500, "start": "1s", "group": "call"}]
    load = {"workload.load": "12mbit", "workload.group": "web", "workload.cbr": cbr, "trace": ["call", "ftp"]}
    load["workload.permanent"] = [{"flows": 2, "group": "ftp"}]
    return compare(load_scenario("wired", load | {"duration": "30s", "network.buffer": 30}), "fifo,las")


def test_the_curves_of_loss_are_those_of_the_records(result):
    figure = loss_figure(result.records, STYLES, 1460)
    assert [trace["meta"] for trace in figure.data] == ["fifo", "las"]
    fifo = figure.data[0]
    smallest = result.records.filter(pl.col("protocol") == "tcp", discipline="fifo").filter(
        pl.col("size_packets") == pl.col("size_packets").min()
    )
    assert fifo["x"][0] == pytest.approx(smallest["size_packets"][0] * 1.46, rel=1e-4), "sizes are in kB"
    loss = smallest["drops"].sum() / smallest["packets_sent"].sum()
    assert fifo["customdata"][0][0] == pytest.approx(loss, rel=1e-4)
    lossy = (smallest["drops"] > 0).mean()
    assert fifo["customdata"][0][1:] == [pytest.approx(lossy, rel=1e-4), smallest.height]
    nothing = result.records.with_columns(drops=pl.lit(0))
    assert loss_figure(nothing, STYLES, 1460) is None


def test_active_flows_are_drawn_over_the_run(result):
    figure = active_figure(result.records, STYLES, 3000.0)
    last_s = max(result.records["start_s"].max(), result.records["finish_s"].max())
    for trace, row in zip(figure.data, result.summary["disciplines"], strict=True):
        # Nothing begins or ends afterwards, however long the run goes on.
        assert last_s - last_s / 100 < trace["x"][-1] < last_s < 30.0
        area = sum(trace["y"]) / len(trace["y"]) * last_s
        endless = result.records.filter(pl.col("finish_s").is_null(), discipline=row["label"]).height
        assert area + endless * (30.0 - last_s) == pytest.approx(row["active_flows"]["mean"] * 30.0, rel=1e-3)
        assert max(trace["customdata"]) == row["active_flows"]["max"]
    assert active_figure(result.records, STYLES, None) is None


def test_the_playout_curve_rises_to_all_blocks_and_las_needs_more(result):
    figure = playout_figure(result.packets, result.records, STYLES)
    fifo, las = figure.data
    for trace in (fifo, las):
        assert trace["y"] == sorted(trace["y"])
        assert trace["y"][-1] == 1.0
    assert sum(las["y"]) < sum(fifo["y"])
    assert playout_figure(None, result.records, STYLES) is None
    tcp = result.records.with_columns(protocol=pl.lit("tcp"))
    assert playout_figure(result.packets, tcp, STYLES) is None


def test_the_pace_of_a_stream_is_that_of_its_departures(result):
    figure = departures_figure(result.packets, result.records, STYLES)
    assert [trace["meta"] for trace in figure.data] == ["fifo", "las"]
    for trace in figure.data:
        assert trace["x"] == sorted(trace["x"]) and trace["y"] == sorted(trace["y"]) and trace["y"][-1] == 1.0
    # 500 bytes at 64 kb/s: under FIFO a gap is as often above its period as below.
    fifo = figure.data[0]
    assert 0.2 < max(y for x, y in zip(fifo["x"], fifo["y"], strict=True) if x <= 0.0625) < 0.9
    assert departures_figure(None, result.records, STYLES) is None


def test_a_traced_transfer_is_counted_over_the_run(result):
    figure = delivery_figure(result.packets, result.timeouts, result.records, STYLES, 30.0)
    ftp = result.packets.join(result.records.filter(group="ftp").select("flow_id").unique(), on="flow_id", how="semi")
    for trace in figure.data:
        own = ftp.filter(discipline=trace["meta"]).filter(pl.col("flow_id") == pl.col("flow_id").min())
        assert sum(trace["y"]) == own["received_s"].count() > 100
    assert delivery_figure(result.packets, None, result.records, STYLES, 30.0) is None


def test_permanent_flows_have_a_jain_index(result):
    html = html_of(congestion.SECTION, result.summary["disciplines"])
    for row in result.summary["disciplines"]:
        own = result.records.filter(group="ftp", discipline=row["label"])["delivered_bytes"].to_numpy()
        assert row["jain"] == pytest.approx(own.sum() ** 2 / 2 / (own**2.0).sum())
        assert f"{row['jain']:.3f}" in html


def test_the_page_has_a_row_per_discipline_and_per_class(result):
    text = page_text(result.summary, result.records, result.samples, result.packets, result.timeouts)
    assert {"loss", "active", "playout", "departures", "delivery"} <= set(re.findall(r'id="plot-([a-z-]+)"', text))
    rows = result.summary["disciplines"]
    html = html_of(congestion.SECTION, rows)
    assert html.count('<th scope="row">') == 2 + 6
    for row in rows:
        assert f"{100 * row['loss']['rate']:.1f} %" in html
        assert row["queueing_delay"]["relative"] == pytest.approx(row["queueing_delay"]["mean_s"] / 0.006)
        call = next(own for own in row["classes"] if own["group"] == "call")
        assert call["queueing_delay"]["packets"] <= row["queueing_delay"]["packets"]


def test_a_summary_of_an_earlier_version_has_no_such_table():
    assert html_of(congestion.SECTION, summary_of(flow_records(["fifo"], flows=50))["disciplines"]) == ""
