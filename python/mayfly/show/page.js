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
  var faded = 0.12;

  // The table says which disciplines there are, and its boxes which of them are drawn; a page may have none.
  var body = document.querySelector("#disciplines tbody");
  var lines = body ? Array.from(body.querySelectorAll("tr")) : [];
  var rows = lines.filter(function (line) { return line.dataset.discipline !== undefined; });
  var rowOf = {}, first = [], pinned = null, pointed = null;
  rows.forEach(function (row) {
    rowOf[row.dataset.discipline] = row;
    if (box(row).checked) { first.push(row.dataset.discipline); }
  });
  function box(row) { return row.querySelector("input"); }
  function isDrawn(label) { return label === undefined || !rowOf[label] || box(rowOf[label]).checked; }
  function place(figure) { return document.getElementById("plot-" + figure.key); }

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

  // Panels of the drawn disciplines under each other; the others take no room.
  function arranged(figure) {
    var panels = figure.panels, each = panels.height + panels.gap, change = {}, at = 0, last = 0;
    var count = Math.max(1, panels.labels.filter(isDrawn).length), whole = count * each - panels.gap;
    panels.labels.forEach(function (label, index) {
      var axis = "yaxis" + (index ? index + 1 : ""), drawn = isDrawn(label), top = 1 - at * each / whole;
      change[axis + ".visible"] = drawn;
      change[axis + ".domain"] = drawn ? [Math.max(0, top - panels.height / whole), top] : [0, 1e-4];
      change["annotations[" + index + "].visible"] = drawn;
      change["annotations[" + index + "].y"] = drawn ? top : 0;
      if (drawn) { at += 1; last = index; }
    });
    change["xaxis.anchor"] = "y" + (last ? last + 1 : "");
    change["legend.y"] = 1 + 24 / whole;
    change.height = whole + panels.around;
    return change;
  }

  // A legend beside the plot leaves no room for it in a narrow window: there it stands above, without what is hidden.
  function narrowed(figure, layout) {
    layout.font.size = 11;
    if (layout.legend.yanchor === "top") {
      layout.legend = { orientation: "h", x: 0, xanchor: "left", y: 1.02, yanchor: "bottom" };
      layout.height = 460;
      figure.data.forEach(function (trace) { delete trace.legendgrouptitle; trace.legendgroup = trace.meta; });
      figure.listed = true;
    }
    layout.legend.font = { size: 10 }; layout.legend.itemwidth = 30;
  }

  function visibility(figure) {
    var off = figure.panels ? false : "legendonly";
    return figure.data.map(function (trace) { return isDrawn(trace.meta) ? true : off; });
  }
  function legends(figure) {
    return figure.data.map(function (trace, index) { return figure.inLegend[index] && isDrawn(trace.meta); });
  }

  function draw(figure) {
    var target = place(figure), narrow = target.clientWidth < 560, layout = JSON.parse(JSON.stringify(figure.layout));
    figure.fills = figure.data.map(function (trace) { return trace.fillcolor || "rgba(0,0,0,0)"; });
    figure.inLegend = figure.data.map(function (trace) { return trace.showlegend !== false; });
    if (narrow) { narrowed(figure, layout); target.style.height = layout.height + "px"; }
    if (figure.listed) { legends(figure).forEach(function (on, index) { figure.data[index].showlegend = on; }); }
    var settings = Object.assign({ displayModeBar: narrow ? false : "hover" }, config);
    return Plotly.newPlot(target, figure.data, layout, settings).then(function () {
      var change = Object.assign(themed(figure.layout, dark.matches), figure.panels ? arranged(figure) : {});
      return Plotly.relayout(target, change);
    }).then(function () {
      target.on("plotly_click", function (event) { pin(event.points[0].data.meta); });
      target.on("plotly_legendclick", function (event) { return toggled(event.data[event.curveNumber].meta); });
      target.on("plotly_legenddoubleclick", function (event) { return alone(event.data[event.curveNumber].meta); });
      figure.ready = true; report.plots += 1; publish();
    });
  }

  function redraw() {
    figures.forEach(function (figure) {
      if (!figure.ready) { return; }
      var change = { visible: visibility(figure) };
      if (figure.listed) { change.showlegend = legends(figure); }
      var layout = figure.panels ? arranged(figure) : {};
      if (layout.height) { place(figure).style.height = layout.height + "px"; }
      Plotly.update(place(figure), change, layout).catch(function (error) { failed(figure.key, error); });
    });
    count();
  }
  function count() {
    var drawn = rows.filter(function (row) { return box(row).checked; }).length;
    var status = document.getElementById("plotted");
    if (status) { status.textContent = drawn + " of " + rows.length + " plotted"; }
  }
  function drawOnly(chosen) {
    rows.forEach(function (row) { box(row).checked = chosen(row); });
    redraw();
  }
  function toggled(label) {
    if (!rowOf[label]) { return true; }
    box(rowOf[label]).checked = !box(rowOf[label]).checked;
    redraw();
    return false;
  }
  function alone(label) {
    if (!rowOf[label]) { return true; }
    drawOnly(function (row) { return row.dataset.discipline === label; });
    return false;
  }

  function faint(colour) { return colour.replace(/[\d.]+\)$/, function (alpha) { return 0.15 * parseFloat(alpha) + ")"; }); }

  // One discipline brought out in every plot: for good by a click, for now by the pointer on its row.
  function emphasise() {
    var label = pointed !== null ? pointed : pinned;
    rows.forEach(function (row) {
      var on = row.dataset.discipline === pinned;
      row.classList.toggle("pinned", on);
      row.querySelector(".name").setAttribute("aria-pressed", on);
    });
    if (label !== null && !isDrawn(label)) { label = null; }
    figures.forEach(function (figure) {
      if (!figure.ready || figure.emphasis === label) { return; }
      figure.emphasis = label;
      var on = figure.data.map(function (trace) {
        return label === null || trace.meta === undefined || trace.meta === label;
      });
      var change = { opacity: on.map(function (out) { return out ? 1 : faded; }) };
      if (figure.panels) {
        // Opacity leaves stacked areas as they are.
        change.fillcolor = figure.fills.map(function (fill, index) { return on[index] ? fill : faint(fill); });
      }
      Plotly.restyle(place(figure), change).catch(function (error) { failed(figure.key, error); });
    });
  }
  function pin(label) {
    if (!rowOf[label]) { return; }
    pinned = pinned === label ? null : label;
    if (pinned !== null && !isDrawn(label)) { box(rowOf[label]).checked = true; redraw(); }
    emphasise();
  }
  var waiting = null;
  function point(label) {
    pointed = label;
    clearTimeout(waiting);
    waiting = setTimeout(emphasise, 120);
  }

  function valueOf(row, column) {
    var cell = row.children[column];
    return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
  }
  function sort(heading, column) {
    var way = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    Array.from(heading.parentNode.children).forEach(function (other) { other.setAttribute("aria-sort", "none"); });
    heading.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
    var order = rows.map(function (row, index) {
      return { row: row, index: index, value: column ? valueOf(row, column) : index };
    });
    order.sort(function (a, b) {
      // What has no value comes last in either order.
      if (a.value === null || b.value === null) { return (a.value === null) - (b.value === null) || a.index - b.index; }
      return way * (a.value - b.value) || a.index - b.index;
    });
    var grouped = column === 0 && way > 0;
    (grouped ? lines : order.map(function (entry) { return entry.row; })).forEach(function (line) {
      body.appendChild(line);
    });
    lines.forEach(function (line) { line.classList.toggle("apart", !grouped && line.classList.contains("family")); });
    filter();
  }
  function filter() {
    var family = document.getElementById("family");
    lines.forEach(function (line) {
      var other = family && family.value !== "" && line.dataset.family !== family.value;
      line.hidden = Boolean(other) || line.classList.contains("apart");
    });
  }

  rows.forEach(function (row) {
    var label = row.dataset.discipline;
    box(row).addEventListener("change", function () { redraw(); emphasise(); });
    row.addEventListener("mouseenter", function () { point(label); });
    row.addEventListener("mouseleave", function () { point(null); });
    row.addEventListener("click", function (event) { if (event.target !== box(row)) { pin(label); } });
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape" && pinned !== null) { pin(pinned); }
  });
  document.querySelectorAll("#disciplines thead th").forEach(function (heading, column) {
    heading.querySelector("button").addEventListener("click", function () { sort(heading, column); });
  });
  var tools = document.querySelector(".tools");
  if (tools) {
    tools.hidden = false;
    document.getElementById("family").addEventListener("change", filter);
    document.getElementById("plot-listed").addEventListener("click", function () {
      drawOnly(function (row) { return !row.hidden; });
    });
    document.getElementById("plot-first").addEventListener("click", function () {
      drawOnly(function (row) { return first.indexOf(row.dataset.discipline) >= 0; });
    });
  }

  function restyle(isDark, size) {
    figures.forEach(function (figure) {
      if (!figure.ready) { return; }
      var change = themed(figure.layout, isDark);
      if (size) { Object.assign(change, size); }
      Plotly.relayout("plot-" + figure.key, change);
    });
  }
  publish();
  count();
  function begin(figure) {
    if (figure.begun) { return; }
    figure.begun = true;
    try { draw(figure).catch(function (error) { failed(figure.key, error); }); }
    catch (error) { failed(figure.key, error); }
  }
  // Of many, each is drawn when it is about to be seen: a hundred at once keep the page from answering for seconds.
  var atOnce = 12;
  if (figures.length <= atOnce || !("IntersectionObserver" in window)) { figures.forEach(begin); }
  else {
    var of = new Map();
    var near = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        if (entry.isIntersecting) { near.unobserve(entry.target); begin(of.get(entry.target)); }
      });
    }, { rootMargin: "800px" });
    figures.forEach(function (figure) { of.set(place(figure), figure); near.observe(place(figure)); });
    window.addEventListener("beforeprint", function () { figures.forEach(begin); });
  }
  dark.addEventListener("change", function () { restyle(dark.matches); });
  window.addEventListener("beforeprint", function () { restyle(false, { width: 680, autosize: false }); });
  window.addEventListener("afterprint", function () { restyle(dark.matches, { width: null, autosize: true }); });
})();
