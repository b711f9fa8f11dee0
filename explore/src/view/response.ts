/** Response time against size: a point for each transfer, a plot for each discipline, the same axes in all. */

import type { App } from "../app";
import type { Outcome } from "../engine/types";
import { isOld } from "../run/runner";
import { labelOf } from "../state/state";
import { bytesShown, duration } from "../state/units";
import { kindColour } from "./colours";
import { h, setText } from "./dom";
import type { View } from "./page";
import { axis, decades, FOOT_PX, scaled, uPlot } from "./plot";
import { legendItem } from "./queue";
import { theme } from "./theme";

const HEIGHT_PX = 300;
const SLOWEST = 8;
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- a const enum of declarations alone is not there at run time
const LOGARITHMIC = 3 as uPlot.Scale.Distr;
/** Click or key within so many pixels of a point. */
const REACH_PX = 14;

interface Panel {
  root: HTMLElement;
  title: HTMLElement;
  about: HTMLElement;
  place: HTMLElement;
  list: HTMLElement;
  plot: uPlot | null;
  outcome: Outcome | null;
  /** Places of transfers by size, for the arrow keys. */
  order: number[];
  selected: number | null;
}

interface Ranges {
  x: [number, number];
  y: [number, number];
}

export function response(app: App): View {
  let panels: Panel[] = [];
  let ranges: Ranges | null = null;
  let seen = false;
  const grid = h("div", { class: "plots" });
  const legend = h("ul", { class: "legend" });
  const root = h(
    "div",
    {},
    grid,
    legend,
    h("p", { class: "about" }, "Each point is a transfer; both axes are logarithmic. Triangles at the top never ended. Click a point for its life, or go through the points with the arrow keys and press Enter."),
  );

  function open(column: number, flow: number): void {
    app.change((state) => (state.life = { column, flow }));
  }

  function panel(column: number): Panel {
    const title = h("h3", {});
    const about = h("p", { class: "numbers", role: "status" });
    const place = h("div", {
      class: "scatter",
      tabindex: 0,
      role: "application",
      "aria-label": "Transfers by size: arrow keys, Enter opens one",
      onclick: (event: MouseEvent) => clicked(event, column),
      onkeydown: (event: KeyboardEvent) => keyed(event, column),
    });
    const list = h("tbody");
    const table = h(
      "details",
      { class: "slowest" },
      h("summary", {}, `The ${SLOWEST} slowest for their size`),
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...["Size", "Response time", "Kind", "Way", ""].map((text) => h("th", { scope: "col" }, text || h("span", { class: "unseen" }, "Open"))))),
        list,
      ),
    );
    return { root: h("section", { class: "plot" }, h("div", { class: "lane-head" }, title, about), place, table), title, about, place, list, plot: null, outcome: null, order: [], selected: null };
  }

  function shared(): Ranges | null {
    let [x0, x1, y0, y1] = [Infinity, 0, Infinity, 0];
    for (const slot of app.slots) {
      const { size_bytes = [], response_s = [] } = slot.outcome?.transfers ?? {};
      size_bytes.forEach((size, at) => {
        const time = response_s[at];
        x0 = Math.min(x0, Math.max(1, size));
        x1 = Math.max(x1, size);
        if (time === null || time === undefined || time <= 0) return;
        y0 = Math.min(y0, time);
        y1 = Math.max(y1, time);
      });
    }
    if (x1 <= 0) return null;
    if (y1 <= 0) [y0, y1] = [0.01, 1];
    const down = (value: number): number => 10 ** Math.floor(Math.log10(value));
    const up = (value: number): number => 10 ** Math.ceil(Math.log10(value) + 1e-9);
    return { x: [down(x0), up(x1)], y: [down(y0), up(y1)] };
  }

  function draw(entry: Panel): void {
    entry.plot?.destroy();
    entry.plot = null;
    const width = entry.place.clientWidth;
    if (ranges === null || entry.outcome === null || width < 50) return;
    const bounds = ranges;
    const options: uPlot.Options = {
      width,
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, distr: LOGARITHMIC, range: () => bounds.x },
        y: { distr: LOGARITHMIC, range: () => bounds.y },
      },
      axes: [
        axis({ label: "size", format: bytesShown, size: FOOT_PX, splits: decades(bounds.x) }),
        axis({ label: "response time", format: duration, size: 56, splits: decades(bounds.y) }),
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [(plot) => points(plot, entry, bounds)] },
    };
    entry.plot = new uPlot(options, [bounds.x, bounds.y], entry.place);
  }

  function points(plot: uPlot, entry: Panel, bounds: Ranges): void {
    const { outcome } = entry;
    if (outcome === null) return;
    const { transfers, kinds } = outcome;
    const { ctx } = plot;
    const ratio = scaled(plot);
    const many = transfers.id.length > 5000;
    const size = (many ? 2 : 4) * ratio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
    ctx.clip();
    const colours = kinds.map((kind) => kindColour(kind, theme()));
    transfers.id.forEach((_, at) => {
      const time = transfers.response_s[at];
      const x = plot.valToPos(Math.max(1, transfers.size_bytes[at] ?? 1), "x", true);
      ctx.fillStyle = colours[transfers.kind[at] ?? 0] ?? "#888888";
      if (time === null || time === undefined || time <= 0) {
        const y = plot.bbox.top + 2 * ratio;
        ctx.beginPath();
        ctx.moveTo(x, y);
        ctx.lineTo(x - size, y + 1.6 * size);
        ctx.lineTo(x + size, y + 1.6 * size);
        ctx.fill();
      } else {
        const y = plot.valToPos(time, "y", true);
        ctx.fillRect(x - size / 2, y - size / 2, size, size);
      }
    });
    if (entry.selected !== null) {
      const time = transfers.response_s[entry.selected] ?? bounds.y[1];
      const x = plot.valToPos(Math.max(1, transfers.size_bytes[entry.selected] ?? 1), "x", true);
      const y = plot.valToPos(time, "y", true);
      ctx.strokeStyle = getComputedStyle(entry.place).color;
      ctx.lineWidth = 2 * ratio;
      ctx.beginPath();
      ctx.arc(x, y, 8 * ratio, 0, 7);
      ctx.stroke();
    }
    ctx.restore();
  }

  function clicked(event: MouseEvent, column: number): void {
    const entry = panels[column];
    const { plot, outcome } = entry ?? { plot: null, outcome: null };
    if (!entry || !plot || !outcome) return;
    const box = plot.over.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    let best = -1;
    let least = REACH_PX ** 2;
    outcome.transfers.id.forEach((_, at) => {
      const time = outcome.transfers.response_s[at];
      const x = plot.valToPos(Math.max(1, outcome.transfers.size_bytes[at] ?? 1), "x");
      const y = time === null || time === undefined || time <= 0 ? 4 : plot.valToPos(time, "y");
      const away = (x - px) ** 2 + (y - py) ** 2;
      if (away < least) [best, least] = [at, away];
    });
    if (best < 0) return;
    select(entry, best);
    open(column, outcome.transfers.id[best] ?? 0);
  }

  function keyed(event: KeyboardEvent, column: number): void {
    const entry = panels[column];
    if (!entry?.outcome || entry.order.length === 0) return;
    const at = entry.selected === null ? -1 : entry.order.indexOf(entry.selected);
    const last = entry.order.length - 1;
    const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageDown: at + 20, PageUp: at - 20, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      select(entry, entry.order[Math.min(last, Math.max(0, to))] ?? 0);
    } else if (event.key === "Enter" && entry.selected !== null) {
      event.preventDefault();
      open(column, entry.outcome.transfers.id[entry.selected] ?? 0);
    }
  }

  function select(entry: Panel, at: number): void {
    entry.selected = at;
    if (entry.outcome) setText(entry.about, describe(entry.outcome, at));
    entry.plot?.redraw(false);
  }

  function fill(entry: Panel, column: number): void {
    const { outcome } = entry;
    if (outcome === null) return;
    const { transfers, kinds } = outcome;
    entry.order = transfers.id.map((_, at) => at).sort((a, b) => (transfers.size_bytes[a] ?? 0) - (transfers.size_bytes[b] ?? 0));
    if (entry.selected !== null && entry.selected >= transfers.id.length) entry.selected = null;
    const unfinished = transfers.response_s.filter((time) => time === null).length;
    setText(entry.about, `${transfers.id.length.toLocaleString("en-US")} transfers${unfinished > 0 ? `, ${unfinished.toLocaleString("en-US")} never ended` : ""}`);
    // Seconds a byte, with what a packet takes to be worth: small ones are not slow because they are small.
    const slowness = (at: number): number => (transfers.response_s[at] ?? Infinity) / ((transfers.size_bytes[at] ?? 0) + 15_000);
    const slowest = [...entry.order].sort((a, b) => slowness(b) - slowness(a)).slice(0, SLOWEST);
    entry.list.replaceChildren(
      ...slowest.map((at) => {
        const time = transfers.response_s[at];
        const id = transfers.id[at] ?? 0;
        return h(
          "tr",
          {},
          h("td", { class: "number" }, bytesShown(transfers.size_bytes[at] ?? 0)),
          h("td", { class: "number" }, time === null || time === undefined ? "never ended" : duration(time)),
          h("td", {}, kinds[transfers.kind[at] ?? 0] ?? ""),
          h("td", {}, transfers.up[at] ? "up" : "down"),
          h("td", {}, h("button", { type: "button", class: "quiet", "aria-label": `Life of transfer ${id}`, onclick: () => open(column, id) }, "Its life")),
        );
      }),
    );
  }

  return {
    root,
    update() {
      if (!seen) return;
      const { columns } = app.state;
      if (panels.length !== columns.length) {
        for (const entry of panels) entry.plot?.destroy();
        panels = columns.map((_, column) => panel(column));
        grid.replaceChildren(...panels.map((entry) => entry.root));
      }
      const next = shared();
      const moved = JSON.stringify(next) !== JSON.stringify(ranges);
      ranges = next;
      panels.forEach((entry, column) => {
        const slot = app.slots[column];
        setText(entry.title, labelOf(columns[column] ?? { id: "", options: {} }));
        entry.root.classList.toggle("old", slot !== undefined && isOld(slot));
        const outcome = slot?.outcome ?? null;
        if (outcome === entry.outcome && !moved && entry.plot !== null) return;
        if (outcome !== entry.outcome) {
          entry.outcome = outcome;
          fill(entry, column);
        }
        draw(entry);
      });
      const used = new Set(app.slots.flatMap(({ outcome }) => (outcome ? [...new Set(outcome.transfers.kind)].map((kind) => outcome.kinds[kind] ?? "") : [])));
      const key = `${[...used].join()} ${theme()}`;
      if (legend.dataset["key"] !== key) {
        legend.dataset["key"] = key;
        legend.replaceChildren(...[...used].filter((kind) => kind !== "").map(legendItem));
      }
    },
    visible(next) {
      seen = next;
      if (next) return;
      for (const entry of panels) {
        entry.plot?.destroy();
        entry.plot = null;
        entry.outcome = null;
      }
    },
    redraw() {
      if (seen) panels.forEach(draw);
    },
  };
}

function describe(outcome: Outcome, at: number): string {
  const { transfers, kinds } = outcome;
  const time = transfers.response_s[at];
  const took = time === null || time === undefined ? "never ended" : `took ${duration(time)}`;
  return `${bytesShown(transfers.size_bytes[at] ?? 0)} ${transfers.up[at] ? "up" : "down"}, ${kinds[transfers.kind[at] ?? 0] ?? ""}, ${took}`;
}
