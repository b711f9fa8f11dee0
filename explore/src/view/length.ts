/** The queue over the whole run, a line for each discipline. */

import type { App } from "../app";
import type { Outcome } from "../engine/types";
import { aligned } from "../inside/aligned";
import { isOld } from "../run/runner";
import { labelOf } from "../state/state";
import { bytesShown, three } from "../state/units";
import { columnColour, columnDash } from "./colours";
import { h } from "./dom";
import type { View } from "./page";
import { axis, FOOT_PX, uPlot } from "./plot";
import { theme } from "./theme";

const HEIGHT_PX = 280;

export function length(app: App): View {
  let plot: uPlot | null = null;
  let drawn: (Outcome | null)[] = [];
  let key = "";
  let seen = false;
  const place = h("div", { class: "wide-plot" });
  const unit = h("select", { id: "length-unit", onchange: () => app.render() }, h("option", { value: "packets" }, "packets"), h("option", { value: "bytes" }, "bytes"));
  const legend = h("ul", { class: "legend" });
  const table = h("tbody");
  const root = h(
    "div",
    {},
    h("div", { class: "bar" }, h("label", { for: "length-unit" }, "In"), unit),
    place,
    legend,
    h("p", { class: "about" }, "What waits in the queue of the way down, sampled. Click where you want to look inside."),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Queue in numbers" },
      h("table", {}, h("thead", {}, h("tr", {}, ...["Discipline", "Mean", "Half the time below", "95 % of the time below", "Longest"].map((text) => h("th", { scope: "col" }, text)))), table),
    ),
  );

  function draw(): void {
    plot?.destroy();
    plot = null;
    const outcomes = app.slots.map(({ outcome }) => outcome);
    const width = place.clientWidth;
    const data = aligned(outcomes, unit.value === "bytes");
    if (width < 50 || data === null) return;
    const format = unit.value === "bytes" ? bytesShown : three;
    const options: uPlot.Options = {
      width,
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { time: false } },
      axes: [axis({ label: "time", format: (value) => `${three(value)} s`, size: FOOT_PX }), axis({ label: "waiting", format, size: 58 })],
      series: [
        {},
        ...outcomes.map((_, column) => ({
          label: String(column),
          stroke: columnColour(column, theme()),
          width: 1.5,
          dash: columnDash(column),
          points: { show: false },
          spanGaps: true,
        })),
      ],
    };
    plot = new uPlot(options, data, place);
    plot.over.addEventListener("click", (event) => {
      const at = plot?.posToVal(event.offsetX, "x");
      if (at === undefined || !Number.isFinite(at)) return;
      app.change((state) => {
        const from = Math.max(0, Math.round((at - state.inside.length_s / 2) * 10) / 10);
        state.inside = { ...state.inside, from_s: from, at_s: null };
        state.tab = "queue";
      });
    });
  }

  function numbers(): void {
    const bytes = unit.value === "bytes";
    const format = bytes ? bytesShown : (value: number): string => three(value);
    table.replaceChildren(
      ...app.state.columns.map((column, at) => {
        const { queue } = app.slots[at]?.outcome ?? {};
        const values = [...((bytes ? queue?.bytes : queue?.packets) ?? [])].sort((a, b) => a - b);
        const part = (share: number): string => (values.length === 0 ? "–" : format(values[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0));
        const mean = values.length === 0 ? "–" : format(Math.round((values.reduce((a, b) => a + b, 0) / values.length) * 10) / 10);
        return h("tr", {}, h("th", { scope: "row" }, labelOf(column)), ...[mean, part(0.5), part(0.95), part(1)].map((text) => h("td", { class: "number" }, text)));
      }),
    );
    legend.replaceChildren(
      ...app.state.columns.map((column, at) => {
        const swatch = h("span", { class: "line-swatch", "aria-hidden": "true" });
        swatch.style.borderTopColor = columnColour(at, theme());
        swatch.style.borderTopStyle = columnDash(at).length > 0 ? "dashed" : "solid";
        return h("li", {}, swatch, labelOf(column));
      }),
    );
  }

  return {
    root,
    update() {
      if (!seen) return;
      const outcomes = app.slots.map(({ outcome }) => outcome);
      root.classList.toggle("old", app.slots.some(isOld));
      const next = `${unit.value} ${theme()} ${app.state.columns.map(labelOf).join()}`;
      if (next === key && outcomes.length === drawn.length && outcomes.every((outcome, at) => outcome === drawn[at])) return;
      key = next;
      drawn = outcomes;
      draw();
      numbers();
    },
    visible(next) {
      seen = next;
      key = "";
      if (!next) {
        plot?.destroy();
        plot = null;
        drawn = [];
      }
    },
    redraw() {
      key = "";
    },
  };
}
