"""Results in an interpreter and in a notebook."""

import importlib
import inspect
import pkgutil
import re
import xml.etree.ElementTree as ET

import polars as pl
import pytest

import mayfly
from mayfly.comparison.notebook import MOST
from mayfly.comparison.user_metrics import MEASURES, measured
from mayfly.profile.answer import profile
from mayfly.profile.link import DirectionGuess, LinkGuess
from mayfly.show.notebook import Bars, Result, bars, steps

OFFICE = "captures/office.pcap.gz"
NETWORKS = ["10.10.0.0/24"]


@pytest.fixture(scope="module")
def compared(request):
    path = request.config.rootpath / OFFICE
    return mayfly.whatif(
        path, "10mbit", 300, internal=NETWORKS, disciplines="fifo,fq_codel", overrides={"duration": "5s"}
    )


@pytest.fixture(scope="module")
def profiled(request):
    return profile([request.config.rootpath / OFFICE], internal=NETWORKS, bootstrap=0, bin_s=5.0)


def svg(html):
    return [ET.fromstring(text) for text in re.findall(r"<svg .*?</svg>", html, re.DOTALL)]


def test_a_comparison_prints_one_short_line(compared):
    text = repr(compared)
    flows, records = compared.summary["workload"]["flows"], compared.records.height
    assert text == f"<Comparison: whatif of office.pcap.gz, {flows:,} flows, fifo, fq_codel; {records:,} records>"
    assert str(compared) == text


def test_a_comparison_of_many_disciplines_names_six():
    flows = pl.DataFrame({"start_s": [0.0], "size_packets": [10]})
    text = repr(mayfly.compare("wired", "all", flows=flows))
    assert re.search(r"fifo(, [^,]+){5} and \d+ more;", text) and len(text) < 200


def test_a_profile_prints_one_short_line(profiled):
    assert repr(profiled) == f"<Profile: office.pcap.gz, {profiled.frame.height} connections in 74.79 s>"


def test_a_guess_of_a_link_prints_one_short_line():
    guess = LinkGuess(DirectionGuess("down", rate_bps=1e7, buffer_bytes=73_300), DirectionGuess("up"))
    assert repr(guess) == "<LinkGuess: down 10.0 Mbit/s, buffer 73.3 kB; up –, buffer –>"


def test_a_comparison_in_a_notebook_has_a_picture_and_a_table(compared):
    html = compared._repr_html_()
    rows = compared.summary["disciplines"]
    assert html.count("<table") == 1 and "script" not in html and "http" not in html.replace("http://www.w3.org", "")
    [plot] = svg(html)
    drawn = [element for element in plot if element.tag.endswith("rect")]
    # A percentile that transfers without end leave open has no bar.
    found = [[measured(row, measure) for row in rows] for measure in MEASURES if measure.pictured]
    told = [[own is not None and own.value is not None for own in measure] for measure in found]
    told += [[row[name]["mean_s"] is not None for row in rows] for name in ("short", "long")]
    panels = [known for known in told if any(known)][:MOST]
    assert len(panels) == MOST == sum(1 for e in plot if e.get("font-weight") == "bold")
    assert len(drawn) == sum(map(sum, panels)) > MOST
    assert all(f'<th scope="row">{row["label"]}</th>' in html for row in rows)
    assert len(html) < 30_000


def test_a_profile_in_a_notebook_has_its_load_and_tables(profiled):
    html = profiled._repr_html_()
    assert len(svg(html)) == 1 and html.count("<table") >= 2 and "<script" not in html


def test_bars_are_as_long_as_their_values_and_markup_is_escaped():
    text = bars(["a<b", "c"], ["#000", "#111"], [Bars("t", [1.0, 4.0], [None, (2.0, 8.0)], ["1", "4"])])
    [plot] = svg(text)
    widths = [float(element.get("width")) for element in plot if element.tag.endswith("rect")]
    assert widths[1] == pytest.approx(4 * widths[0], abs=0.2)
    # The upper end of the interval is the longest thing drawn, twice the longer bar.
    [path] = [element.get("d") for element in plot if element.tag.endswith("path")]
    low, high = map(float, re.findall(r"[MH]([\d.]+)", path))
    assert (high - 150) == pytest.approx(2 * widths[1], abs=0.2) and (low - 150) == pytest.approx(
        widths[1] / 2, abs=0.2
    )
    assert "a<b" in [element.text for element in plot]


def test_bars_without_a_value_leave_a_gap():
    [plot] = svg(bars(["a", "b"], ["#000", "#111"], [Bars("t", [None, 0.0], [None, None], ["–", "0 s"])]))
    assert [element.get("width") for element in plot if element.tag.endswith("rect")] == ["0.0"]


def test_steps_reach_the_top_at_the_largest():
    [plot] = svg(steps("load", [1.0, 4.0, 2.0], 5.0, "4 bit/s"))
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)H", plot[1].get("d"))]
    assert heights == [90.0, 0.0, 60.0]


def results():
    """Every class of the package that is a result."""
    found = set()
    for module in pkgutil.walk_packages(mayfly.__path__, "mayfly."):
        if ".cli" in module.name or module.name.endswith(("__main__", "_native")):
            continue
        loaded = importlib.import_module(module.name)
        found |= {kind for _, kind in inspect.getmembers(loaded, inspect.isclass) if kind.__module__ == module.name}
    return sorted(found, key=lambda kind: kind.__qualname__)


def test_what_has_tables_and_a_document_is_a_result_with_a_short_line():
    shown = [kind for kind in results() if hasattr(kind, "document") and hasattr(kind, "sentences")]
    assert len(shown) >= 8
    assert [kind.__qualname__ for kind in shown if not issubclass(kind, Result)] == []
    assert [kind.__qualname__ for kind in results() if issubclass(kind, Result) and "__repr__" in vars(kind)] == [
        "Result"
    ]
