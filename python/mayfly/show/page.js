(function () {
  "use strict";
  var report = window.__mayfly_report = { plots: 0, errors: [] };
  var root = document.documentElement;
  function publish() { root.dataset.plots = report.plots; root.dataset.errors = JSON.stringify(report.errors); }
  function failed(what, error) { report.errors.push(what + ": " + (error && error.message || error)); publish(); }
  window.addEventListener("error", function (event) { failed("script", event.message); });
  document.addEventListener("securitypolicyviolation", function (event) { failed("policy", event.blockedURI); });

  // A table that is wider than its box is scrolled by the keyboard, too.
  document.querySelectorAll(".scroll").forEach(function (box) {
    box.tabIndex = 0; box.setAttribute("role", "region"); box.setAttribute("aria-label", "table");
  });

  var figures = JSON.parse(document.getElementById("figures").textContent);
  if (figures.length && typeof Plotly === "undefined") {
    failed("library", "no plot library");
    figures.forEach(function (figure) {
      place(figure).textContent = "The plots need the folder mayfly-assets beside this file.";
    });
    figures = [];
  }
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

  // Panels side by side where the window is wide, each with its own unit; the names stand at the first of a line.
  var lineHeight = 22, panelAround = 58, titleLine = 16;
  // A title over as many lines as its panel needs.
  function folded(title, width) {
    var most = Math.max(12, Math.floor(width / 7.4)), lines = [""];
    title.split(" ").forEach(function (word) {
      var last = lines[lines.length - 1];
      if (last && last.length + 1 + word.length > most) { lines.push(word); }
      else { lines[lines.length - 1] = last ? last + " " + word : word; }
    });
    return lines.map(plain);
  }
  function gridded(figure, width) {
    var titles = figure.grid, count = titles.length, change = {};
    var columns = width >= 860 ? count : width >= 330 ? Math.min(count, 2) : 1, lines = Math.ceil(count / columns);
    var names = {};
    figure.data.forEach(function (trace) { if (isDrawn(trace.meta)) { names[trace.meta] = trace.y[0]; } });
    // A long name is cut short on the axis; hover and table have all of it.
    var most = width >= 860 ? 30 : 15, labels = Object.keys(names).map(function (name) { return names[name]; });
    var cut = labels.map(function (label) {
      var text = bare(label);
      return plain(text.length > most ? text.slice(0, most - 1) + "\u2026" : text);
    });
    var longest = Math.max.apply(null, cut.map(function (text) { return bare(text).length; }).concat(0));
    var heads = titles.map(function (title) { return folded(title, (width - 7.2 * longest) / columns); });
    var more = titleLine * (Math.max.apply(null, heads.map(function (head) { return head.length; })) - 1);
    var each = Math.max(1, Object.keys(names).length) * lineHeight + panelAround + more, whole = lines * each;
    for (var index = 0; index < count; index += 1) {
      var tail = index ? String(index + 1) : "", column = index % columns, line = Math.floor(index / columns);
      var gap = columns > 1 ? 0.03 : 0, wide = (1 - gap * (columns - 1)) / columns, left = column * (wide + gap);
      change["xaxis" + tail + ".domain"] = [left, left + wide];
      change["yaxis" + tail + ".domain"] =
        [Math.max(0, 1 - (line * each + each - 26) / whole), 1 - (line * each + 32 + more) / whole];
      change["yaxis" + tail + ".showticklabels"] = column === 0;
      change["yaxis" + tail + ".tickmode"] = "array";
      change["yaxis" + tail + ".tickvals"] = labels;
      change["yaxis" + tail + ".ticktext"] = cut;
      change["annotations[" + index + "].x"] = left;
      change["annotations[" + index + "].y"] = 1 - (line * each + 28 + more) / whole;
      change["annotations[" + index + "].text"] = "<b>" + heads[index].join("<br>") + "</b>";
      change["annotations[" + index + "].align"] = "left";
    }
    change.height = whole + 4;
    return change;
  }

  // A legend beside the plot leaves no room for it in a narrow window: there it stands above, without what is hidden.
  function narrowed(figure, layout) {
    layout.font.size = 11;
    if (figure.grid) { return; }
    if (layout.legend.yanchor === "top") {
      layout.legend = { orientation: "h", x: 0, xanchor: "left", y: 1.02, yanchor: "bottom" };
      layout.height = 460;
      figure.data.forEach(function (trace) { delete trace.legendgrouptitle; trace.legendgroup = trace.meta; });
      figure.listed = true;
    }
    layout.legend.font = { size: 10 }; layout.legend.itemwidth = 30;
  }

  function rearranged(figure) {
    return figure.panels ? arranged(figure) : figure.grid ? gridded(figure, place(figure).clientWidth) : {};
  }

  function visibility(figure) {
    var off = figure.panels || figure.grid ? false : "legendonly";
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
    if (figure.grid) { target.style.height = gridded(figure, target.clientWidth).height + "px"; }
    var settings = Object.assign({ displayModeBar: narrow || target.closest(".lead") ? false : "hover" }, config);
    return Plotly.newPlot(target, figure.data, layout, settings).then(function () {
      var change = Object.assign(themed(figure.layout, dark.matches), rearranged(figure));
      return Plotly.relayout(target, change);
    }).then(function () {
      target.on("plotly_click", function (event) { pin(event.points[0].data.meta); });
      target.on("plotly_legendclick", function (event) { return toggled(event.data[event.curveNumber].meta); });
      target.on("plotly_legenddoubleclick", function (event) { return alone(event.data[event.curveNumber].meta); });
      saving(figure, target);
      figure.width = target.clientWidth;
      figure.ready = true; report.plots += 1;
      if (report.plots === 1) { root.dataset.first = Math.round(performance.now()); }
      publish();
    });
  }

  // A plot as a file: a picture on white whatever the page's colours, or the numbers that are drawn.
  function fileName(figure, ending) {
    var words = (document.title + "-" + figure.key).toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
    return words.slice(0, 80) + "." + ending;
  }
  function picture(figure, target, format) {
    var layout = JSON.parse(JSON.stringify(target.layout)), light = themed(figure.layout, false);
    Object.keys(light).forEach(function (path) {
      var at = layout, parts = path.split("."), last = parts.pop();
      parts.forEach(function (part) { at = at[part] = at[part] || {}; });
      at[last] = light[path];
    });
    var heading = target.getAttribute("aria-label");
    Object.assign(layout, { paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff", autosize: false });
    layout.title = { text: plain(heading), font: { size: 15 }, x: 0.01, xanchor: "left", y: 0.99, yanchor: "top" };
    layout.margin = Object.assign({}, layout.margin, { t: layout.margin.t + 44 });
    var size = { format: format, width: target.clientWidth, height: target.clientHeight + 44 };
    if (format === "png") { size.scale = 2; }
    return Plotly.toImage({ data: target.data, layout: layout, config: { staticPlot: true } }, size);
  }
  function plain(text) { return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"); }
  function bare(text) {
    var box = document.createElement("textarea");
    box.innerHTML = String(text === undefined || text === null ? "" : text).replace(/<[^>]*>/g, " ");
    return box.value.trim();
  }
  function quoted(value) {
    var text = value === undefined || value === null ? "" : String(value);
    return /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }
  function ends(bars, value, index) {
    if (!bars || !bars.array || typeof value !== "number") { return ["", ""]; }
    var up = bars.array[index] || 0, down = bars.arrayminus ? bars.arrayminus[index] || 0 : up;
    return [value - down, value + up];
  }
  function numbers(figure, target) {
    var titles = (figure.grid || figure.panels && figure.panels.labels || []).map(bare);
    var rows = [["series", "x is", "x", "y is", "y", "low", "high", "value"]];
    target.data.forEach(function (trace) {
      if (trace.visible === false || trace.visible === "legendonly" || trace.mode === "text" || !trace.x) { return; }
      function title(axis, letter) {
        var own = target.layout[letter + "axis" + (axis || letter).slice(1)] || {};
        return bare(own.title && own.title.text || titles[Number((axis || letter).slice(1) || 1) - 1]);
      }
      var name = bare(trace.name || trace.meta), x = title(trace.xaxis, "x"), y = title(trace.yaxis, "y");
      function put(index, xs, ys, value) {
        var across = trace.orientation === "h" || !trace.error_y;
        var pair = across ? ends(trace.error_x, xs, index) : ends(trace.error_y, ys, index);
        rows.push([name, x, xs, y, ys, pair[0], pair[1], value]);
      }
      if (trace.z) {
        trace.z.forEach(function (line, row) {
          line.forEach(function (value, column) {
            put(0, trace.x[column], trace.y[row], trace.customdata ? trace.customdata[row][column] : value);
          });
        });
      } else {
        for (var at = 0; at < trace.x.length; at += 1) {
          if (trace.x[at] !== null || trace.y[at] !== null) { put(at, trace.x[at], trace.y[at], ""); }
        }
      }
    });
    return rows.map(function (row) { return row.map(quoted).join(","); }).join("\n") + "\n";
  }
  function download(address, name) {
    var link = document.createElement("a");
    link.href = address; link.download = name;
    document.body.appendChild(link); link.click(); link.remove();
  }
  // The drawing alone on a page of its own size: the browser prints it as lines and text into a PDF.
  function printed(figure, target, address) {
    var image = new Image(), rule = document.createElement("style"), title = document.title;
    image.id = "printed"; image.alt = target.getAttribute("aria-label"); image.src = address;
    rule.textContent = "@page { size: " + target.clientWidth + "px " + (target.clientHeight + 44) + "px; margin: 0; }";
    function ended() {
      window.removeEventListener("afterprint", ended);
      root.classList.remove("printing"); image.remove(); rule.remove(); document.title = title;
    }
    image.decode().then(function () {
      document.head.appendChild(rule); document.body.appendChild(image); root.classList.add("printing");
      document.title = fileName(figure, "pdf").replace(/\.pdf$/, "");
      report.saved = { name: document.title + ".pdf", address: address };
      window.addEventListener("afterprint", ended);
      window.print();
    }).catch(function (error) { failed(figure.key, error); });
  }
  function saving(figure, target) {
    var caption = target.parentNode.querySelector("figcaption"), box = document.createElement("div");
    if (!caption || caption.querySelector(".save")) { return; }
    box.className = "save";
    [["SVG", "as a drawing"], ["PNG", "as a picture"], ["PDF", "as a page, by the printing of the browser"],
      ["CSV", "the numbers that are drawn"]].forEach(function (kind) {
      var button = document.createElement("button"), ending = kind[0].toLowerCase();
      button.type = "button"; button.textContent = kind[0]; button.title = "save " + kind[1];
      button.setAttribute("aria-label", "save " + target.getAttribute("aria-label") + " " + kind[1]);
      button.addEventListener("click", function () {
        report.saved = null;
        if (ending === "pdf") {
          picture(figure, target, "svg").then(function (address) { printed(figure, target, address); })
            .catch(function (error) { failed(figure.key, error); });
          return;
        }
        var made = ending === "csv"
          ? Promise.resolve(URL.createObjectURL(new Blob([numbers(figure, target)], { type: "text/csv" })))
          : picture(figure, target, ending);
        made.then(function (address) {
          report.saved = { name: fileName(figure, ending), address: address };
          download(address, report.saved.name);
        }).catch(function (error) { failed(figure.key, error); });
      });
      box.appendChild(button);
    });
    caption.insertBefore(box, caption.firstChild);
  }

  function redraw() {
    figures.forEach(function (figure) {
      if (!figure.ready) { return; }
      var change = { visible: visibility(figure) };
      if (figure.listed) { change.showlegend = legends(figure); }
      var layout = rearranged(figure);
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
  // What has no value comes last in either order; the first column restores the order in which the rows were written.
  function ordered(heading, column, among) {
    var way = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    Array.from(heading.parentNode.children).forEach(function (other) { other.setAttribute("aria-sort", "none"); });
    heading.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
    var order = among.map(function (row, index) {
      return { row: row, index: index, value: column ? valueOf(row, column) : index };
    });
    order.sort(function (a, b) {
      if (a.value === null || b.value === null) { return (a.value === null) - (b.value === null) || a.index - b.index; }
      return way * (a.value - b.value) || a.index - b.index;
    });
    return order.map(function (entry) { return entry.row; });
  }
  function sort(heading, column) {
    var order = ordered(heading, column, rows);
    var grouped = column === 0 && heading.getAttribute("aria-sort") === "ascending";
    (grouped ? lines : order).forEach(function (line) { body.appendChild(line); });
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
  document.querySelectorAll("table.sorted").forEach(function (table) {
    var own = table.tBodies[0], written = Array.from(own.rows);
    Array.from(table.tHead.rows[0].cells).forEach(function (heading, column) {
      heading.querySelector("button").addEventListener("click", function () {
        ordered(heading, column, written).forEach(function (row) { own.appendChild(row); });
      });
    });
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
  // What is on the first screen is drawn at once, the others one after the other while the page answers; of many, each
  // when it is about to be seen.
  var atOnce = 16, waitingRoom = [];
  function nextOne() {
    var figure = waitingRoom.shift();
    if (figure) { begin(figure); setTimeout(nextOne, 0); }
  }
  function near(figure) { return place(figure).getBoundingClientRect().top < window.innerHeight; }
  figures.filter(near).forEach(begin);
  if (figures.length <= atOnce || !("IntersectionObserver" in window)) {
    waitingRoom = figures.filter(function (figure) { return !figure.begun; });
    setTimeout(nextOne, 0);
  } else {
    var of = new Map();
    var watch = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        if (entry.isIntersecting) { watch.unobserve(entry.target); begin(of.get(entry.target)); }
      });
    }, { rootMargin: "800px" });
    figures.forEach(function (figure) { of.set(place(figure), figure); watch.observe(place(figure)); });
  }
  window.addEventListener("beforeprint", function () { figures.forEach(begin); });
  // Panels are placed anew when the window gets wider or narrower.
  var resizing = null;
  window.addEventListener("resize", function () {
    clearTimeout(resizing);
    resizing = setTimeout(function () {
      figures.forEach(function (figure) {
        if (!figure.ready || !figure.grid || place(figure).clientWidth === figure.width) { return; }
        figure.width = place(figure).clientWidth;
        var change = gridded(figure, figure.width);
        place(figure).style.height = change.height + "px";
        Plotly.relayout(place(figure), change).catch(function (error) { failed(figure.key, error); });
      });
    }, 150);
  });
  dark.addEventListener("change", function () { restyle(dark.matches); });
  window.addEventListener("beforeprint", function () { restyle(false, { width: 680, autosize: false }); });
  window.addEventListener("afterprint", function () { restyle(dark.matches, { width: null, autosize: true }); });
})();
