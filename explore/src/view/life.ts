/** The life of one transfer, in a dialog: sequence numbers and packets under way on one axis of time. */

import type { App } from "../app";
import { lifeOf, type Life } from "../inside/life";
import { isOld } from "../run/runner";
import { labelOf } from "../state/state";
import { bytesShown, duration, three } from "../state/units";
import { pageColour } from "./canvas";
import { h, setText } from "./dom";
import type { View } from "./page";
import { axis, FOOT_PX, scaled, uPlot } from "./plot";

/** What stands for a flow that never ends. */
const ENDLESS_BYTES = 2 ** 40;
const SEQUENCE_PX = 280;
const WINDOW_PX = 190;

export function life(app: App): View {
  const title = h("h2", { id: "life-title" }, "Life of a transfer");
  const about = h("p", { role: "status" });
  const numbers = h("dl", { class: "numbers-list" });
  const sequence = h("div", { class: "wide-plot" });
  const window_ = h("div", { class: "wide-plot" });
  const legend = h("ul", { class: "legend" });
  const others = h("div", { class: "bar" });
  const close = h("button", { type: "button", onclick: () => shut() }, "Close");
  const dialog = h(
    "dialog",
    { class: "life", "aria-labelledby": "life-title", onclose: () => closed(), oncancel: () => undefined },
    h("div", { class: "bar" }, title, close),
    others,
    about,
    numbers,
    legend,
    sequence,
    window_,
  );
  let plots: uPlot[] = [];
  let drawn: unknown = null;
  let drawnWidth = 0;

  function shut(): void {
    dialog.close();
  }

  function closed(): void {
    clear();
    if (app.state.life !== null) app.change((state) => (state.life = null));
  }

  function clear(): void {
    for (const plot of plots) plot.destroy();
    plots = [];
    drawn = null;
  }

  function describe(text: string): void {
    setText(about, text);
    about.hidden = text === "";
  }

  /** `response`: null where it never ended, undefined where there is none. */
  function show(story: Life, response: number | null | undefined, size: number | null): void {
    const rows: [string, string][] = [
      ["Size", size === null || size >= ENDLESS_BYTES ? "without end" : bytesShown(size)],
      ...(response === undefined ? [] : [["Response time", response === null ? "never ended" : duration(response)] as [string, string]]),
      ["Packets sent", story.packets.toLocaleString("en-US")],
      ["Sent again", story.again.length.toLocaleString("en-US")],
      ["Lost", story.dropped.length.toLocaleString("en-US")],
      ["Timeouts", story.timeouts.length.toLocaleString("en-US")],
      ["Most under way", `${story.most_under_way.toLocaleString("en-US")} packets`],
      ["Longest wait in the queue", duration(story.longest_wait)],
    ];
    numbers.replaceChildren(...rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    legend.replaceChildren(
      ...(
        [
          ["sent", "■ sent"],
          ["received", "● received"],
          ["again", "▲ sent again"],
          ["lost", "✕ lost"],
          ["timeout", "┃ timeout"],
        ] as const
      ).map(([name, text]) => h("li", { class: `life-${name}` }, text)),
    );
    draw(story);
  }

  function draw(story: Life): void {
    const width = sequence.clientWidth;
    drawnWidth = width;
    if (width < 50 || story.packets === 0) return;
    const dots = [...story.sent, ...story.again, ...story.received, ...story.dropped];
    const times = [...dots.map(({ time }) => time), ...story.timeouts];
    const [from, to] = [times.reduce((a, b) => Math.min(a, b), Infinity), times.reduce((a, b) => Math.max(a, b), 0)];
    const margin = Math.max(1e-4, (to - from) * 0.03);
    const range: [number, number] = [from - margin, to + margin];
    const most = dots.reduce((a, { number }) => Math.max(a, number), 1);
    const span = range[1] - range[0];
    const clock = (value: number): string => (span < 0.2 ? `${(value * 1000).toFixed(span < 0.02 ? 1 : 0)} ms` : `${three(value)} s`);
    const common = (label: string, top: number): uPlot.Options => ({
      width,
      height: top,
      legend: { show: false },
      cursor: { sync: { key: "life" }, drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { time: false, range: () => range } },
      axes: [axis({ label: "time in the run", format: clock, size: FOOT_PX }), axis({ label, format: three, size: 56 })],
      series: [{}, {}],
    });
    const above: uPlot.Options = {
      ...common("segment", SEQUENCE_PX),
      scales: { x: { time: false, range: () => range }, y: { range: () => [0, most * 1.06 + 1] } },
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [(plot) => marks(plot, story)] },
    };
    const stepped = uPlot.paths.stepped;
    const below: uPlot.Options = {
      ...common("packets under way", WINDOW_PX),
      scales: { x: { time: false, range: () => range }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
      series: [{}, { stroke: pageColour("--accent"), width: 1.5, points: { show: false }, ...(stepped ? { paths: stepped({ align: 1 }) } : {}) }],
    };
    plots = [
      new uPlot(above, [[range[0], range[1]], [0, 0]], sequence),
      new uPlot(below, [story.under_way.time, story.under_way.packets], window_),
    ];
  }

  function marks(plot: uPlot, story: Life): void {
    const { ctx } = plot;
    const ratio = scaled(plot);
    const x = (time: number): number => plot.valToPos(time, "x", true);
    const y = (number: number): number => plot.valToPos(number, "y", true);
    const size = (story.packets > 1500 ? 1.2 : 2) * ratio;
    ctx.save();
    ctx.strokeStyle = pageColour("--worse");
    ctx.lineWidth = 2 * ratio;
    for (const time of story.timeouts) {
      ctx.beginPath();
      ctx.moveTo(x(time), plot.bbox.top);
      ctx.lineTo(x(time), plot.bbox.top + plot.bbox.height);
      ctx.stroke();
    }
    ctx.fillStyle = pageColour("--muted");
    for (const { time, number } of story.received) {
      ctx.beginPath();
      ctx.arc(x(time), y(number), size, 0, 7);
      ctx.fill();
    }
    ctx.fillStyle = pageColour("--accent");
    for (const { time, number } of story.sent) ctx.fillRect(x(time) - size, y(number) - size, 2 * size, 2 * size);
    ctx.fillStyle = pageColour("--again");
    const arm = 4 * ratio;
    for (const { time, number } of story.again) {
      ctx.beginPath();
      ctx.moveTo(x(time), y(number) - arm);
      ctx.lineTo(x(time) - arm, y(number) + arm);
      ctx.lineTo(x(time) + arm, y(number) + arm);
      ctx.fill();
    }
    for (const { time, number } of story.dropped) {
      const [px, py] = [x(time), y(number)];
      ctx.beginPath();
      ctx.moveTo(px - arm, py - arm);
      ctx.lineTo(px + arm, py + arm);
      ctx.moveTo(px - arm, py + arm);
      ctx.lineTo(px + arm, py - arm);
      ctx.stroke();
    }
    ctx.restore();
  }

  return {
    root: dialog,
    update() {
      const { life: open, columns } = app.state;
      if (open === null) {
        if (dialog.open) dialog.close();
        return;
      }
      if (!dialog.open) dialog.showModal();
      const column = columns[open.column];
      setText(title, `Flow ${open.flow} under ${column ? labelOf(column) : "?"}`);
      const key = `${columns.map(labelOf).join()} ${open.column}`;
      if (others.dataset["key"] !== key) {
        others.dataset["key"] = key;
        others.replaceChildren(
          ...columns.map((each, place) =>
            h(
              "button",
              { type: "button", class: "quiet", "aria-pressed": String(place === open.column), onclick: () => app.change((state) => (state.life = { column: place, flow: open.flow })) },
              `under ${labelOf(each)}`,
            ),
          ),
        );
      }
      const figures = app.slots[open.column]?.outcome ?? null;
      const at = figures?.transfers.id.indexOf(open.flow) ?? -1;
      const slot = app.lifeSlot;
      const inside = !isOld(slot) && slot.outcome ? slot.outcome.inside : null;
      if (slot.error !== null) describe(slot.error);
      else if (inside === null || figures === null) describe("Its packets are on their way.");
      else {
        const width = sequence.clientWidth;
        if (drawn === inside && Math.abs(width - drawnWidth) < 2) return;
        clear();
        drawn = inside;
        const story = lifeOf(inside, open.flow);
        const left = inside.left_out > 0 ? `${inside.left_out.toLocaleString("en-US")} packets of this time are left out, some of this transfer perhaps.` : "";
        const row = inside.flows.id.indexOf(open.flow);
        const part = at < 0 ? "This flow is no transfer (a ping, a call, datagrams): here is the part of it that the animation shows. " : "";
        describe(story.packets === 0 ? `None of its packets is among those that were kept. ${left}` : part + left);
        const size = at < 0 ? (inside.flows.size_bytes[row] ?? null) : (figures.transfers.size_bytes[at] ?? null);
        show(story, at < 0 ? undefined : (figures.transfers.response_s[at] ?? null), size);
      }
    },
    redraw() {
      clear();
    },
  };
}
