"""The report in headless Chromium: every plot drawn, nothing on the console, nothing asked of the network."""

import html
import json
import re

import pytest
from browser import IN_BROWSER, Visit, with_probe
from synthetic import FAMILIES, FAMILY, LAWS, flow_records, sample_rows, summary_of

from mayfly.comparison.page import write_report

pytestmark = IN_BROWSER


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    records = flow_records([*list(LAWS)[:5], "efd(threshold=40, high=las)"], flows=2500)
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(path, summary_of(records), records, sample_rows(records))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_plot_is_drawn_without_error_or_network(report, tmp_path, scheme):
    visit = Visit(report, tmp_path, f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}")
    declared = re.findall(r'class="plot[^"]*" id="plot-([a-z-]+)"', visit.dom)
    assert len(declared) == 11
    assert re.search(r'data-plots="(\d+)"', visit.dom)[1] == str(len(declared))
    assert re.search(r'data-errors="([^"]*)"', visit.dom)[1] == "[]"
    drawn = re.findall(r'<div class="plot-container plotly"', visit.dom)
    assert len(drawn) == len(declared)
    # Plotly stacks several roots per plot: marks, legend, hover.
    roots = visit.dom.count('class="main-svg"')
    assert roots >= len(declared)
    assert roots % len(declared) == 0
    assert visit.dom.count('class="trace scatter') >= 6 * 5
    assert visit.console == []
    assert visit.requests == []
    titles = set(re.findall(r'data-title="([^"]*)"', visit.dom))
    # Recent versions of Plotly offer to upload the chart unless told otherwise.
    assert "Zoom" in titles
    assert not any(re.search("share|cloud|upload|edit", title, re.IGNORECASE) for title in titles)
    assert ("rgb(230, 232, 235)" in visit.dom) == (scheme == "dark")


def test_a_hostile_scenario_name_runs_nothing(tmp_path):
    records = flow_records(["fifo"], flows=300)
    hostile = '</script><script>console.error("broke out")</script><img src="http://leak.invalid/x.png">'
    summary = summary_of(records, scenario={"name": hostile, "network": {"buffer": hostile}}, answer=[hostile])
    visit = Visit(write_report(tmp_path / "report.html", summary, records), tmp_path)
    assert visit.console == []
    assert visit.requests == []
    assert 'data-errors="[]"' in visit.dom


def test_a_leak_or_a_console_error_would_be_seen(tmp_path):
    page = tmp_path / "leak.html"
    page.write_text('<img src="http://leak.invalid/x.png"><script>console.error("told")</script>')
    visit = Visit(page, tmp_path)
    assert visit.requests == ["http://leak.invalid/x.png"]
    assert any("told" in line for line in visit.console)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    records = flow_records(list(FAMILY), flows=1500)
    path = tmp_path_factory.mktemp("many") / "report.html"
    return write_report(path, summary_of(records, answer=[]), records, sample_rows(records, period_s=1.0))


# What a reader can see of the state of the page.
WATCH = """
function seen() {
  var rows = Array.from(document.querySelectorAll("tr[data-discipline]"));
  function plot(key) { return document.getElementById("plot-" + key); }
  function drawn(key) {
    return plot(key)._fullData.filter(function (trace) { return trace.visible === true && trace.meta; })
      .map(function (trace) { return trace.meta; });
  }
  function strong(key) {
    return plot(key)._fullData.filter(function (trace) {
      return trace.visible === true && trace.meta && trace.opacity === 1;
    }).map(function (trace) { return trace.meta; });
  }
  return {
    listed: rows.filter(function (row) { return !row.hidden; }).map(function (row) { return row.dataset.discipline; }),
    ticked: rows.filter(function (row) { return row.querySelector("input").checked; }).length,
    pressed: rows.filter(function (row) { return row.querySelector(".name").ariaPressed === "true"; })
      .map(function (row) { return row.dataset.discipline; }),
    sorted: Array.from(document.querySelectorAll("thead th")).map(function (head) { return head.ariaSort; }),
    heads: Array.from(document.querySelectorAll("tr.family")).filter(function (row) { return !row.hidden; }).length,
    cdf: drawn("cdf"), queue: drawn("queue"), strong: strong("cdf"), strongPanels: strong("progress"),
    panels: Object.keys(plot("queue")._fullLayout).filter(function (name) {
      return /^yaxis/.test(name) && plot("queue")._fullLayout[name].visible; }).length,
    queueHeight: plot("queue").clientHeight,
    status: document.getElementById("plotted").textContent
  };
}
var steps = [], states = [];
function next() {
  if (!steps.length) { document.body.dataset.states = JSON.stringify(states); return; }
  steps.shift()();
  setTimeout(function () { states.push(seen()); next(); }, 600);
}
function row(label) { return document.querySelector('tr[data-discipline="' + label + '"]'); }
addEventListener("load", function () { setTimeout(next, 4000); });
"""


def states_after(page, folder, *steps):
    """What is seen after each step, a JavaScript statement."""
    script = WATCH + "".join(f"steps.push(function () {{ {step} }});" for step in steps)
    acted = folder / "acted.html"
    acted.write_text(with_probe(page.read_text(encoding="utf-8"), f"<script>{script}</script>"))
    visit = Visit(acted, folder)
    assert visit.console == []
    assert 'data-errors="[]"' in visit.dom
    return json.loads(html.unescape(re.search(r'data-states="([^"]*)"', visit.dom)[1]))


@pytest.mark.slow
def test_a_row_puts_its_discipline_into_every_plot_and_brings_it_out(many, tmp_path):
    at_first, ticked, pinned, other, escaped, pointed, left = states_after(
        many,
        tmp_path,
        "",
        'row("codel").querySelector("input").click();',
        'row("codel").querySelector(".name").click();',
        'row("srpt").click();',
        'document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));',
        'row("fifo").dispatchEvent(new MouseEvent("mouseenter"));',
        'row("fifo").dispatchEvent(new MouseEvent("mouseleave"));',
    )
    assert at_first["ticked"] == len(at_first["cdf"]) == at_first["panels"] == 5
    assert at_first["cdf"][0] == "fifo" and at_first["strong"] == at_first["cdf"]
    assert set(at_first["queue"]) == set(at_first["cdf"])
    assert at_first["status"] == "5 of 26 plotted" and at_first["pressed"] == []
    assert set(ticked["cdf"]) == set(ticked["queue"]) == {*at_first["cdf"], "codel"} and ticked["panels"] == 6
    assert ticked["queueHeight"] - at_first["queueHeight"] == 164
    assert ticked["pressed"] == [], "a box draws, it does not bring out"
    assert pinned["pressed"] == pinned["strong"] == ["codel"] and set(pinned["strongPanels"]) == {"codel"}
    assert pinned["cdf"] == ticked["cdf"]
    # What is brought out is drawn.
    assert other["pressed"] == other["strong"] == ["srpt"] and "srpt" in other["cdf"] and other["ticked"] == 7
    assert escaped["pressed"] == [] and escaped["strong"] == escaped["cdf"]
    assert pointed["strong"] == ["fifo"] and pointed["pressed"] == []
    assert left["strong"] == left["cdf"]


@pytest.mark.slow
def test_a_name_in_a_legend_is_the_same_switch_in_every_plot(many, tmp_path):
    legend = (
        'var plot = document.getElementById("plot-cdf"); '
        'var at = plot.data.findIndex(function (trace) {{ return trace.meta === "{}"; }}); '
        'plot.emit("plotly_{}", {{ data: plot.data, curveNumber: at }});'
    )
    click = 'document.getElementById("plot-cdf").emit("plotly_click", { points: [{ data: { meta: "fifo" } }] });'
    on, off, alone, curve = states_after(
        many,
        tmp_path,
        legend.format("cake", "legendclick"),
        legend.format("fifo", "legendclick"),
        legend.format("cake", "legenddoubleclick"),
        click,
    )
    assert "cake" in on["cdf"] and "cake" in on["queue"] and on["ticked"] == 6
    assert "fifo" not in off["cdf"] and "fifo" not in off["queue"] and off["panels"] == off["ticked"] == 5
    assert set(alone["cdf"]) == set(alone["queue"]) == {"cake"} and alone["panels"] == 1
    assert curve["pressed"] == ["fifo"] and "fifo" in curve["cdf"]


def test_the_table_sorts_and_filters_and_draws_what_is_listed(many, tmp_path):
    choose = 'var box = document.getElementById("family"); box.value = "{}"; box.dispatchEvent(new Event("change"));'
    head = 'document.querySelectorAll("thead button")[{}].click();'
    found = states_after(
        many,
        tmp_path,
        head.format(1),
        head.format(1),
        choose.format("fair queueing"),
        'document.getElementById("plot-listed").click();',
        head.format(0),
        choose.format(""),
        'document.getElementById("plot-first").click();',
    )
    up, down, filtered, drawn, grouped, every, first = found
    names = list(FAMILY)
    assert sorted(up["listed"]) == sorted(names) and up["listed"] != names and up["heads"] == 0
    assert up["listed"][-1] == "fifo" == down["listed"][0] and up["listed"] == down["listed"][::-1]
    assert (up["sorted"][1], down["sorted"][1], down["sorted"][0]) == ("ascending", "descending", "none")
    assert set(filtered["listed"]) == set(FAMILIES["fair queueing"]) and filtered["heads"] == 0
    assert filtered["cdf"] == up["cdf"], "a filter of the table leaves the plots alone"
    assert set(drawn["cdf"]) == set(FAMILIES["fair queueing"]) and drawn["panels"] == drawn["ticked"]
    assert grouped["listed"] == FAMILIES["fair queueing"] and grouped["heads"] == 1
    assert every["listed"] == names and every["heads"] == len(FAMILIES)
    assert first["cdf"][0] == "fifo" and first["ticked"] == 5


def test_every_control_is_reached_by_the_keyboard(many):
    text = many.read_text(encoding="utf-8")
    body = text[text.index("<body>") : text.index('<script type="application/json"')]
    assert not re.findall(r'tabindex="-|onclick|<a (?!href="#)', body)
    for row in re.findall(r"<tr data-discipline.*?</tr>", body, re.S):
        assert re.search(r'<input type="checkbox"[^>]* aria-label="plot [^"]+">', row)
        assert '<button type="button" class="name" aria-pressed="false">' in row
    assert body.count('class="sort"') == body.count('scope="col"') == 10
    assert '<label>Family <select id="family"' in body and 'role="status"' in body


def test_many_disciplines_are_drawn_without_error_or_network(many, tmp_path):
    visit = Visit(many, tmp_path, "--blink-settings=preferredColorScheme=0")
    assert re.search(r'data-plots="(\d+)"', visit.dom)[1] == "11"
    assert re.search(r'data-errors="([^"]*)"', visit.dom)[1] == "[]"
    assert visit.console == []
    assert visit.requests == []


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("which", ["report", "many"])
def test_nothing_is_wider_than_the_window(which, tmp_path, width, request):
    report = request.getfixturevalue(which)
    # A frame, because a headless window is never narrower than 500 px; the frame's page reports its own widths.
    probe = (
        "<script>addEventListener('load',function(){setTimeout(function(){var w=document.documentElement;"
        "var widest=Math.max.apply(null,Array.from(document.querySelectorAll('.main-svg')).map(function(s)"
        "{return s.getBoundingClientRect().right}));"
        "parent.postMessage(JSON.stringify([w.clientWidth,w.scrollWidth,Math.ceil(widest)]),'*')},3000)})</script>"
    )
    framed = tmp_path / "framed.html"
    framed.write_text(with_probe(report.read_text(encoding="utf-8"), probe), encoding="utf-8")
    outer = tmp_path / "outer.html"
    outer.write_text(
        f'<iframe src="framed.html" style="width:{width}px;height:900px;border:0"></iframe><p id="widths"></p>'
        "<script>addEventListener('message',function(e){document.getElementById('widths').textContent=e.data})</script>"
    )
    visit = Visit(outer, tmp_path, "--window-size=1400,1000")
    client, scroll, widest = json.loads(re.search(r'<p id="widths">(.*?)</p>', visit.dom)[1])
    assert client == width
    assert scroll <= width
    assert widest <= width
