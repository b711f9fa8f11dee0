"""Style and script of the report page; nothing is loaded from elsewhere, which the page's own policy enforces."""

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "form-action 'none'; base-uri 'none'"
)

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d5d9de; --page: #ffffff; --card: #f6f7f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --soft: #9aa4af; --line: #3a4048; --page: #14171a; --card: #1d2125; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 1.2rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .3rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; }
p { margin: .4rem 0; }
.soft, figcaption { color: var(--soft); font-size: .92rem; }
dl.facts { display: flex; flex-wrap: wrap; gap: .6rem 1.6rem; margin: 1rem 0; }
dl.facts dt { color: var(--soft); font-size: .8rem; }
dl.facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.answer { background: var(--card); border-left: 4px solid #4269d0; border-radius: 4px; padding: .6rem 1rem; }
.answer p::first-letter { text-transform: uppercase; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; width: 100%; }
th, td { padding: .35rem .7rem; text-align: right; vertical-align: top; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--page);
  white-space: normal; overflow-wrap: anywhere; min-width: 8rem; max-width: 14rem; }
thead th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
td small { color: var(--soft); display: block; }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .45em; }
figure { margin: 0; break-inside: avoid; }
.plot { width: 100%; min-height: 320px; }
/* Above the plot, beside its heading: a long legend needs the first line. */
.plot .modebar-container { top: -2.1rem !important; }
details { margin-top: 2rem; } summary { cursor: pointer; }
pre { overflow-x: auto; background: var(--card); padding: .8rem; font-size: .85rem; }
footer { margin: 2.5rem 0 1rem; border-top: 1px solid var(--line); padding-top: .6rem; }
@media (max-width: 560px) { body { padding: .8rem; } h1 { font-size: 1.35rem; } }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --line: #bbb; --page: #fff; --card: #f4f4f4; }
  body { max-width: none; padding: 0; font-size: 11pt; } .modebar { display: none !important; }
  .scroll { overflow: visible; } table { font-size: 8pt; } th, td { padding: .2rem .35rem; } details { display: none; }
}
"""

SCRIPT = """
(function () {
  "use strict";
  var report = window.__mayfly_report = { plots: 0, errors: [] };
  var root = document.documentElement;
  function publish() { root.dataset.plots = report.plots; root.dataset.errors = JSON.stringify(report.errors); }
  function failed(what, error) { report.errors.push(what + ": " + (error && error.message || error)); publish(); }
  window.addEventListener("error", function (event) { failed("script", event.message); });
  document.addEventListener("securitypolicyviolation", function (event) { failed("policy", event.blockedURI); });
  var figures = JSON.parse(document.getElementById("figures").textContent);
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var config = { responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "",
    modeBarButtonsToRemove: ["lasso2d", "select2d"] };

  function themed(layout, isDark) {
    var ink = isDark ? "#e6e8eb" : "#1b1f24", grid = isDark ? "#343a41" : "#e1e4e8";
    var faint = isDark ? "#23282d" : "#f1f2f4";
    var out = { "font.color": ink, "hoverlabel.bgcolor": isDark ? "#23282d" : "#ffffff",
      "modebar.bgcolor": "rgba(0,0,0,0)", "modebar.color": isDark ? "#9aa4af" : "#8a939c", "modebar.activecolor": ink };
    Object.keys(layout).forEach(function (name) {
      if (!/^[xy]axis/.test(name)) { return; }
      out[name + ".gridcolor"] = grid; out[name + ".linecolor"] = grid; out[name + ".zerolinecolor"] = grid;
      if (layout[name].minor) { out[name + ".minor.gridcolor"] = faint; }
    });
    return out;
  }
  function narrowed(layout, width) {
    var copy = JSON.parse(JSON.stringify(layout));
    if (width < 560) { copy.font.size = 11; copy.legend.font = { size: 10 }; copy.legend.itemwidth = 30; }
    return copy;
  }
  function draw(figure) {
    var place = document.getElementById("plot-" + figure.key);
    var layout = narrowed(figure.layout, place.clientWidth);
    var settings = Object.assign({ displayModeBar: place.clientWidth < 560 ? false : "hover" }, config);
    return Plotly.newPlot(place, figure.data, layout, settings).then(function () {
      return Plotly.relayout(place, themed(figure.layout, dark.matches));
    }).then(function () { report.plots += 1; publish(); });
  }
  function restyle(isDark, size) {
    figures.forEach(function (figure) {
      var change = themed(figure.layout, isDark);
      if (size) { Object.assign(change, size); }
      Plotly.relayout("plot-" + figure.key, change);
    });
  }
  publish();
  figures.forEach(function (figure) {
    try { draw(figure).catch(function (error) { failed(figure.key, error); }); }
    catch (error) { failed(figure.key, error); }
  });
  dark.addEventListener("change", function () { restyle(dark.matches); });
  window.addEventListener("beforeprint", function () { restyle(false, { width: 680, autosize: false }); });
  window.addEventListener("afterprint", function () { restyle(dark.matches, { width: null, autosize: true }); });
})();
"""
