"""The report page, without a browser."""

import json
import os
import re

import polars as pl
import pytest
from synthetic import LAWS, flow_records, sample_rows, summary_of

from mayfly.report.figures import confidence_bands, unfinished_sizes
from mayfly.report.html import embedded_json, page_text, write_report
from mayfly.report.palette import styles

RECORDS = flow_records(flows=1500)
SAMPLES = sample_rows(RECORDS)
SUMMARY = summary_of(RECORDS)


def figures_in(text):
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', text, re.S)
    return {figure["key"]: figure for figure in json.loads(found[1])}


def own_part(text):
    """Return the page without the Plotly library."""
    from plotly.offline import get_plotlyjs

    return text.replace(get_plotlyjs(), "")


def test_every_plot_has_a_place_a_title_and_a_source():
    text = page_text(SUMMARY, RECORDS, SAMPLES)
    keys = set(figures_in(text))
    assert keys == {
        "mean-by-size",
        "mean-by-percentile",
        "confidence",
        "cdf",
        "unfinished",
        "queue",
        "flow-table",
        "progress",
    }
    assert set(re.findall(r'id="plot-([a-z-]+)"', text)) == keys
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", text, re.S)
    assert len(captions) == len(keys)
    assert all("Chen 2012" in caption for caption in captions)


def test_axes_have_titles_and_disciplines_one_colour():
    figures = figures_in(page_text(SUMMARY, RECORDS, SAMPLES))
    for figure in figures.values():
        axes = [value for name, value in figure["layout"].items() if re.match("[xy]axis", name)]
        assert all(axis["title"]["text"] for axis in axes)
    colours = {label: style.colour for label, style in styles(list(LAWS)[:4]).items()}
    for key in ("mean-by-size", "mean-by-percentile", "cdf", "unfinished", "flow-table"):
        assert [trace["line"]["color"] for trace in figures[key]["data"]] == list(colours.values())


def test_the_page_loads_nothing_and_forbids_it():
    own = own_part(page_text(SUMMARY, RECORDS, SAMPLES))
    assert not re.search(r"https?:|\bsrc=|\bhref=|@import|url\(", own)
    assert "default-src 'none'" in own
    assert len(own) < 1_000_000


@pytest.mark.parametrize(
    "hostile", ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a & \"b\" 'c'"]
)
def test_strings_of_strangers_stay_text(hostile):
    records = RECORDS.filter(pl.col("discipline").is_in(["fifo", "efd"])).with_columns(
        pl.col("discipline").replace("efd", hostile)
    )
    summary = summary_of(
        records, scenario={"name": hostile, "network": {"rate": hostile, "buffer": hostile}}, answer=[hostile]
    )
    text = page_text(summary, records, sample_rows(records))
    assert own_part(text).count("</script>") == 3
    assert "<img src=x" not in text
    assert "<script>alert" not in text
    assert hostile == json.loads(embedded_json(hostile))
    assert any(trace["legendgroup"] == hostile for trace in figures_in(text)["cdf"]["data"])


@pytest.mark.parametrize(("buffer", "shown"), [([300, "packets"], "300 packets"), ([450_000, "bytes"], "450 kB")])
def test_the_head_says_what_ran(buffer, shown):
    scenario = {"name": "wired", "title": "Chen 2012, ch. 4", "network": {"rate": 10_000_000, "buffer": buffer}}
    text = own_part(page_text(SUMMARY | {"scenario": scenario}, RECORDS))
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text))
    assert facts["buffer"] == shown
    assert facts["link rate"] == "10.0 Mbit/s"
    assert (facts["transfers"], facts["seed"]) == ("1,500", "1")
    assert '<p class="soft">Chen 2012, ch. 4</p>' in text


def test_json_refuses_what_json_cannot_say():
    with pytest.raises(ValueError, match="JSON compliant"):
        embedded_json([float("nan")])


def test_a_run_without_samples_or_completed_flows_still_has_a_page():
    assert set(figures_in(page_text(SUMMARY, RECORDS))).isdisjoint({"queue", "flow-table", "progress"})
    nothing = RECORDS.with_columns(pl.lit(None, dtype=pl.Float64).alias("finish_s"))
    assert set(figures_in(page_text(summary_of(nothing), nothing))) == {"unfinished"}
    udp = RECORDS.with_columns(pl.lit("udp").alias("protocol"))
    assert set(figures_in(page_text(summary_of(udp), udp))) == set()


def test_the_confidence_plot_is_the_thesis_rule():
    figure = confidence_bands(RECORDS, styles(["fifo"]))
    band, mean = figure.data
    assert band["x"] == mean["x"] + mean["x"][::-1]
    assert all(low < middle < high for (low, high), middle in zip(mean["customdata"], mean["y"], strict=True))
    assert "at least 200 transfers" in figure.caption


def test_unfinished_transfers_that_delivered_nothing_are_on_the_axis():
    records = RECORDS.with_columns(pl.lit(None, dtype=pl.Float64).alias("finish_s"), pl.lit(0).alias("delivered_bytes"))
    [trace] = unfinished_sizes(records, styles(["fifo"])).data
    assert (trace["x"], trace["y"]) == ([0.5, 0.5], [0.0, 1.0])


def test_the_file_is_replaced_at_once(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before")
    monkeypatch.setattr(os, "replace", lambda *names: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_report(path, SUMMARY, RECORDS, SAMPLES)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    assert write_report(path, SUMMARY, RECORDS, SAMPLES) == path
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_report(tmp_path / "none" / "report.html", SUMMARY, RECORDS)


def test_the_page_does_not_grow_with_the_flows():
    labels = list(LAWS)
    small, large = (flow_records(labels, flows=flows) for flows in (20_000, 200_000))
    sizes = [
        len(page_text(summary_of(records, answer=[]), records, sample_rows(records, period_s=0.02)).encode())
        for records in (small, large)
    ]
    assert sizes[1] < 8_000_000
    assert sizes[1] - sizes[0] < 400_000
