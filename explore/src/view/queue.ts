/** The queue in slow time: a lane for each discipline, one clock for all. */

import type { App } from "../app";
import type { Outcome } from "../engine/types";
import { backlogAt, isVictim, leaves, momentOf, sceneOf, VICTIM_S, type Scene } from "../inside/scene";
import { isOld } from "../run/runner";
import { labelOf, linkShown } from "../state/state";
import { bytesShown, duration } from "../state/units";
import { pageColour, surface } from "./canvas";
import { columnColour, columnDash, flowColour, kindColour } from "./colours";
import { h, setText } from "./dom";
import type { View } from "./page";
import { reducedMotion, theme } from "./theme";

const LANE_PX = 132;
const STRIP_PX = 96;
/** How slow: seconds of the run in a second. */
const SPEEDS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1];
const LENGTHS_S = [0.5, 1, 2, 5, 10];
/** Steps of the scrub bar over the part that is shown. */
const SCRUB_STEPS = 1000;

interface Lane {
  root: HTMLElement;
  canvas: HTMLCanvasElement;
  title: HTMLElement;
  numbers: HTMLElement;
  /** Where packets were drawn last: a click finds its transfer. */
  hits: { x: number; y: number; w: number; h: number; flow: number }[];
}

export function queue(app: App): View {
  let lanes: Lane[] = [];
  let scenes: (Scene | null)[] = [];
  let made: (Outcome | null)[] = [];
  let madeUp = false;
  let seen = false;
  let playing = false;
  let begun = false;
  let speed = 0.02;
  let last: number | null = null;
  let request = 0;
  let written = 0;

  const lanesRoot = h("div", { class: "lanes" });
  const strip = h("canvas", { class: "strip", "aria-hidden": "true", onclick: (event: MouseEvent) => seekTo(event) });
  const stripRoot = h("div", {}, strip);
  const play = h("button", { type: "button", class: "play", onclick: () => setPlaying(!playing) }, "Play");
  const scrub = h("input", { type: "range", min: 0, max: SCRUB_STEPS, step: 1, value: 0, "aria-label": "Time in the run", oninput: () => scrubbed() });
  const clock = h("output", { class: "clock" });
  const speedSelect = h(
    "select",
    { id: "speed", onchange: () => (speed = Number(speedSelect.value)) },
    ...SPEEDS.map((value) => h("option", { value, selected: value === speed }, value === 1 ? "real time" : `${Math.round(1 / value)} times slower`)),
  );
  const fromInput = h("input", {
    type: "range",
    id: "inside-from",
    min: 0,
    max: 100,
    step: 0.1,
    oninput: () => app.change((state) => (state.inside = { ...state.inside, from_s: Number(fromInput.value), at_s: null })),
  });
  const fromText = h("output", { class: "clock", for: "inside-from" });
  const lengthSelect = h(
    "select",
    { id: "inside-length", onchange: () => app.change((state) => (state.inside = { ...state.inside, length_s: Number(lengthSelect.value), at_s: null })) },
    ...LENGTHS_S.map((value) => h("option", { value }, `${value} s`)),
  );
  const waySelect = h(
    "select",
    { id: "inside-way", onchange: () => app.change((state) => (state.inside = { ...state.inside, up: waySelect.value === "up" })) },
    h("option", { value: "down" }, "down"),
    h("option", { value: "up" }, "up"),
  );
  const colourSelect = h(
    "select",
    { id: "colour-by", onchange: () => draw() },
    h("option", { value: "kind" }, "by kind of flow"),
    h("option", { value: "flow" }, "by flow"),
  );
  const legend = h("ul", { class: "legend" });
  const message = h("p", { class: "about", role: "status" });

  const root = h(
    "div",
    { class: "queue-view" },
    h(
      "div",
      { class: "bar" },
      play,
      h("label", { for: "speed" }, "Speed"),
      speedSelect,
      h("label", { for: "inside-way" }, "Way"),
      waySelect,
      h("label", { for: "colour-by" }, "Colours"),
      colourSelect,
      h("label", { for: "inside-length" }, "Part of"),
      lengthSelect,
    ),
    message,
    lanesRoot,
    h("div", { class: "scrub" }, scrub, clock),
    stripRoot,
    h("div", { class: "scrub" }, h("label", { for: "inside-from" }, "Part begins at"), fromInput, fromText),
    legend,
    h(
      "p",
      { class: "about" },
      `Packets come from the left and go out on the right; the next to go is at the right end of the queue. A bar is as wide as its packet, and as tall as its transfer is large: low up to 100 kB, tall above 1 MB. Outlined: victims, packets of other than long transfers that have waited longer than ${duration(VICTIM_S)}. A cross falls: dropped. A dot: marked. Click a packet for the life of its transfer.`,
    ),
  );

  function now(): number {
    const span = app.span();
    if (span === null) return 0;
    const at = app.state.inside.at_s;
    return at === null || at < span.from_s || at > span.to_s ? span.from_s : at;
  }

  function setTime(t: number, write: boolean): void {
    app.state.inside.at_s = Math.round(t * 1e6) / 1e6;
    if (write) app.change(() => undefined);
    draw();
  }

  function scrubbed(): void {
    const span = app.span();
    if (span === null) return;
    setPlaying(false);
    setTime(span.from_s + (Number(scrub.value) / SCRUB_STEPS) * (span.to_s - span.from_s), true);
  }

  function seekTo(event: MouseEvent): void {
    const span = app.span();
    if (span === null || strip.clientWidth === 0) return;
    const share = Math.min(1, Math.max(0, event.offsetX / strip.clientWidth));
    setTime(span.from_s + share * (span.to_s - span.from_s), true);
  }

  function setPlaying(next: boolean): void {
    const span = app.span();
    begun = true;
    playing = next && scenes.some((scene) => scene !== null);
    if (playing && span !== null && now() >= span.to_s - 1e-9) app.state.inside.at_s = span.from_s;
    setText(play, playing ? "Pause" : "Play");
    last = null;
    if (playing && request === 0) request = requestAnimationFrame(tick);
    if (!playing) app.change(() => undefined);
  }

  function tick(time: number): void {
    request = 0;
    const span = app.span();
    if (!playing || !seen || span === null) return;
    // A page that was in the background goes on where it was.
    const passed = last === null ? 0 : Math.min(0.1, (time - last) / 1000);
    last = time;
    const t = now() + passed * speed;
    if (t >= span.to_s) {
      setTime(span.to_s, false);
      setPlaying(false);
      return;
    }
    setTime(t, false);
    if (time - written > 1000) {
      written = time;
      app.flushAddress();
    }
    request = requestAnimationFrame(tick);
  }

  function build(): void {
    const { columns } = app.state;
    if (lanes.length !== columns.length) {
      lanes = columns.map((_, place) => makeLane(place));
      lanesRoot.replaceChildren(...lanes.map(({ root: lane }) => lane));
      scenes = [];
      made = [];
    }
    const span = app.span();
    const { info } = app;
    columns.forEach((column, place) => {
      setText((lanes[place] as Lane).title, labelOf(column));
      const slot = app.insides[place];
      const outcome = slot && !isOld(slot) ? slot.outcome : null;
      // An older scene stays until the new one is there, but never one of another part.
      if (outcome === null || (outcome === made[place] && madeUp === app.state.inside.up)) return;
      made[place] = outcome;
      const up = app.state.inside.up;
      if (info === null || span === null) return;
      const shown = linkShown(app.state, info);
      scenes[place] = sceneOf(outcome, span.from_s, span.to_s, up ? (shown.reverse_rate_bps ?? shown.rate_bps) : shown.rate_bps, up);
    });
    madeUp = app.state.inside.up;
    if (span === null || info === null) scenes = columns.map(() => null);
  }

  function makeLane(place: number): Lane {
    const canvas = h("canvas", { role: "img", "aria-label": "Queue", onclick: (event: MouseEvent) => clicked(event, place) });
    const title = h("h3", {});
    const numbers = h("p", { class: "numbers" });
    return { root: h("section", { class: "lane" }, h("div", { class: "lane-head" }, title, numbers), h("div", {}, canvas)), canvas, title, numbers, hits: [] };
  }

  function clicked(event: MouseEvent, place: number): void {
    const lane = lanes[place];
    const hit = lane?.hits.find(({ x, y, w, h: tall }) => event.offsetX >= x - 1 && event.offsetX <= x + w + 1 && event.offsetY >= y && event.offsetY <= y + tall);
    if (hit) app.change((state) => (state.life = { column: place, flow: hit.flow }));
  }

  function draw(): void {
    const span = app.span();
    if (!seen || span === null) return;
    const t = now();
    const share = (t - span.from_s) / (span.to_s - span.from_s);
    scrub.value = String(Math.round(share * SCRUB_STEPS));
    scrub.setAttribute("aria-valuetext", `${t.toFixed(3)} seconds`);
    setText(clock, `${t.toFixed(4)} s`);
    // One scale for all, so that a long queue is seen to be longer.
    const most = Math.max(1500, ...scenes.map((scene) => scene?.most_bytes ?? 0));
    scenes.forEach((scene, place) => {
      const lane = lanes[place];
      if (scene && lane) drawLane(lane, scene, t, most);
    });
    drawStrip(t, span.from_s, span.to_s);
  }

  function colourOf(scene: Scene, at: number): string {
    return colourSelect.value === "flow" ? flowColour(scene.flow[at] as number, theme()) : kindColour(scene.kinds[scene.kind[at] as number] ?? "", theme());
  }

  function drawLane(lane: Lane, scene: Scene, t: number, most: number): void {
    const area = surface(lane.canvas, LANE_PX);
    if (area === null) return;
    const { context, width } = area;
    const moment = momentOf(scene, t);
    const text = pageColour("--text");
    const line = pageColour("--line");
    const left = width * 0.1;
    const linkWidth = Math.max(26, width * 0.07);
    const right = width * 0.83;
    const laneWidth = right - left;
    const floor = 92;
    const tallest = 64;
    lane.hits = [];

    context.strokeStyle = line;
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, floor - tallest - 6.5, laneWidth, tallest + 13);
    context.strokeRect(right + 4.5, floor - tallest - 6.5, linkWidth, tallest + 13);

    const perByte = laneWidth / most;
    const tall = (at: number): number => [0.4, 0.7, 1][scene.size[at] as number] as number;
    const bar = (at: number, x: number, w: number): void => {
      const height = tallest * tall(at);
      context.fillStyle = colourOf(scene, at);
      context.fillRect(x, floor - height, Math.max(0.6, w - (w > 3 ? 1 : 0)), height);
      if (scene.marked[at]) {
        context.fillStyle = text;
        context.beginPath();
        context.arc(x + w / 2, floor - height - 3, 2, 0, 7);
        context.fill();
      }
      lane.hits.push({ x, y: floor - height, w, h: height, flow: scene.flow[at] as number });
    };

    let x = right;
    context.lineWidth = 1.5;
    for (const at of moment.waiting) {
      const w = (scene.bytes[at] as number) * perByte;
      x -= w;
      bar(at, x, w);
      if (isVictim(scene, at, t)) {
        const height = tallest * tall(at);
        context.strokeStyle = text;
        context.strokeRect(x - 0.5, floor - height - 2, Math.max(2, w), height + 4);
      }
    }
    const tail = x;
    if (moment.sending !== null) bar(moment.sending, right + 5, linkWidth * (1 - moment.progress));
    drawWay(context, scene, t, { left, tail, out: right + 4 + linkWidth, width, floor, tallest }, colourOf, text);

    context.fillStyle = pageColour("--muted");
    context.font = "11px system-ui, sans-serif";
    context.fillText("queue", left + 2, 14);
    context.fillText("link", right + 6, 14);
    const { drops } = scene;
    const out = scene.left_out > 0 ? ` ${scene.left_out.toLocaleString("en-US")} packets of this part are left out.` : "";
    const count = moment.waiting.length;
    const summary = `${count} ${count === 1 ? "packet waits" : "packets wait"}, ${bytesShown(moment.bytes)}; ${moment.victims} ${moment.victims === 1 ? "victim" : "victims"}; ${drops} dropped in this part.${out}`;
    setText(lane.numbers, summary);
    lane.canvas.setAttribute("aria-label", `Queue at ${t.toFixed(3)} s: ${summary}`);
  }

  function drawStrip(t: number, from: number, to: number): void {
    const area = surface(strip, STRIP_PX);
    if (area === null) return;
    const { context, width, height } = area;
    const most = Math.max(1, ...scenes.map((scene) => (scene ? scene.steps.packets.reduce((a, b) => Math.max(a, b), 0) : 0)));
    const y = (packets: number): number => height - 14 - (packets / most) * (height - 28);
    const at = (x: number): number => from + (x / width) * (to - from);
    context.strokeStyle = pageColour("--line");
    context.strokeRect(0.5, 0.5, width - 1, height - 1);
    scenes.forEach((scene, place) => {
      if (!scene) return;
      context.strokeStyle = columnColour(place, theme());
      context.lineWidth = 1.5;
      context.setLineDash(columnDash(place));
      context.beginPath();
      for (let x = 0; x <= width; x += 1) {
        const value = y(backlogAt(scene, at(x)));
        if (x === 0) context.moveTo(x, value);
        else context.lineTo(x, value);
      }
      context.stroke();
      context.setLineDash([]);
      context.fillStyle = columnColour(place, theme());
      for (let packet = 0; packet < scene.count; packet += 1) {
        const when = scene.dropped[packet] as number;
        if (when >= from && when <= to) context.fillRect(((when - from) / (to - from)) * width - 0.5, height - 12 + place * 4, 1, 4);
      }
    });
    context.fillStyle = pageColour("--muted");
    context.font = "11px system-ui, sans-serif";
    context.fillText(`packets waiting, at most ${most}; ticks below: dropped`, 6, 13);
    context.strokeStyle = pageColour("--text");
    context.lineWidth = 1;
    const head = Math.round(((t - from) / (to - from)) * width) + 0.5;
    context.beginPath();
    context.moveTo(head, 0);
    context.lineTo(head, height);
    context.stroke();
  }

  function showLegend(): void {
    const kinds = [...new Set(scenes.flatMap((scene) => (scene ? [...new Set(scene.kind)].map((kind) => scene.kinds[kind] ?? "") : [])))].filter((kind) => kind !== "");
    const key = `${kinds.join()} ${theme()} ${colourSelect.value}`;
    if (legend.dataset["key"] === key) return;
    legend.dataset["key"] = key;
    legend.replaceChildren(...(colourSelect.value === "flow" ? [h("li", {}, "each flow has a colour, the same in every lane")] : kinds.map((kind) => legendItem(kind))));
  }

  return {
    root,
    update() {
      const span = app.span();
      const { info } = app;
      build();
      const ready = scenes.some((scene) => scene !== null);
      play.disabled = !ready;
      scrub.disabled = !ready;
      const errors = app.insides.flatMap(({ error }) => error ?? []);
      const empty = ready && scenes.every((scene) => scene === null || scene.count === 0);
      setText(message, errors[0] ?? (info === null ? "" : empty ? "No packet comes this way in this part of the run." : ready ? "" : "The packets of this part are on their way."));
      message.hidden = message.textContent === "";
      lengthSelect.value = String(app.state.inside.length_s);
      waySelect.value = app.state.inside.up ? "up" : "down";
      const end = Math.max(0.1, Math.floor(app.end() * 10) / 10);
      fromInput.max = String(end);
      if (span !== null) {
        fromInput.value = String(span.from_s);
        fromInput.setAttribute("aria-valuetext", `${span.from_s.toFixed(1)} seconds`);
        setText(fromText, `${span.from_s.toFixed(1)} s of ${end.toFixed(1)} s`);
      }
      fromInput.disabled = span === null;
      showLegend();
      lanesRoot.classList.toggle("old", app.insides.some((slot) => isOld(slot)));
      draw();
      // Once, when the first packets are there; whoever stops it has it stopped.
      if (ready && seen && !begun && app.state.inside.at_s === null && !reducedMotion()) setPlaying(true);
    },
    visible(next) {
      seen = next;
      if (!next && playing) {
        playing = false;
        setText(play, "Play");
      }
    },
    redraw: draw,
  };
}

export function legendItem(kind: string): HTMLElement {
  const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
  swatch.style.background = kindColour(kind, theme());
  return h("li", {}, swatch, kind);
}

interface Place {
  left: number;
  tail: number;
  out: number;
  width: number;
  floor: number;
  tallest: number;
}

/** What comes, what has gone out, and what falls. */
function drawWay(context: CanvasRenderingContext2D, scene: Scene, t: number, place: Place, colourOf: (scene: Scene, at: number) => string, text: string): void {
  const middle = place.floor - place.tallest / 2;
  const fall = 0.006;
  for (let at = 0; at < scene.count; at += 1) {
    const sent = scene.sent[at] as number;
    if (sent > t) continue;
    const queued = scene.queued[at] as number;
    const out = leaves(scene, at);
    const dropped = scene.dropped[at] as number;
    if (t < queued && queued !== Infinity) {
      const share = (t - sent) / Math.max(1e-9, queued - sent);
      context.fillStyle = colourOf(scene, at);
      context.fillRect(share * (place.left - 6), middle - 5, 4, 10);
    } else if (dropped <= t && t < dropped + fall) {
      const share = (t - dropped) / fall;
      const x = Math.max(place.left + 4, (queued === dropped ? place.tail : (place.left + place.tail) / 2) - 6);
      const y = middle + share * 60;
      context.strokeStyle = text;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(x - 4, y - 4);
      context.lineTo(x + 4, y + 4);
      context.moveTo(x + 4, y - 4);
      context.lineTo(x - 4, y + 4);
      context.stroke();
      context.fillStyle = colourOf(scene, at);
      context.fillRect(x + 7, y - 5, 4, 10);
    } else if (out <= t && dropped === Infinity) {
      const gone = (scene.departed[at] as number) + ((scene.bytes[at] as number) * 8) / scene.rate_bps;
      const received = scene.received[at] as number;
      if (t < gone || t > received || received === Infinity) continue;
      const share = (t - gone) / Math.max(1e-9, received - gone);
      context.fillStyle = colourOf(scene, at);
      context.fillRect(place.out + 2 + share * (place.width - place.out - 8), middle - 5, 4, 10);
    }
  }
}
