/** Figures as SVG, for reports and slides: on white, with all they need inside. */

import { ATTACK_METRIC, both, change, shown, type Metric } from "../figures/metrics";
import { bytesShown, duration, three } from "../state/units";
import { columnColour, columnDash, kindColour } from "../view/colours";
import type { Labelled } from "./csv";

const INK = "#1c2126";
const MUTED = "#5a636d";
const LINE = "#c9d0d7";
const FONT = "font-family='system-ui, sans-serif'";

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("'", "&#39;").replaceAll('"', "&quot;");
}

function text(x: number, y: number, words: string, size = 12, colour = INK, anchor = "start", weight = 400): string {
  return `<text x='${round(x)}' y='${round(y)}' font-size='${size}' font-weight='${weight}' fill='${colour}' text-anchor='${anchor}'>${escape(words)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function page(width: number, height: number, title: string, parts: string[]): string {
  return [
    `<svg xmlns='http://www.w3.org/2000/svg' width='${width}' height='${height}' viewBox='0 0 ${width} ${height}' ${FONT} role='img'>`,
    `<title>${escape(title)}</title>`,
    `<rect width='${width}' height='${height}' fill='#ffffff'/>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

/** The large figures as bars, a group for each; `users` are those of what users feel. */
export function figuresSvg(columns: Labelled[], title: string, users: Metric[]): string {
  const metrics = [...users, ATTACK_METRIC].filter((metric) => columns.some(({ outcome }) => metric.value(outcome) !== null));
  const rowPx = 22;
  const parts = [text(20, 28, title, 15, INK, "start", 600)];
  let y = 52;
  for (const metric of metrics) {
    parts.push(text(20, y + 12, metric.title, 13, INK, "start", 600), text(20, y + 28, metric.better === "less" ? "less is better" : "more is better", 11, MUTED));
    const values = columns.map(({ outcome }) => metric.value(outcome));
    const most = Math.max(1e-12, ...values.map((value) => (value === null || value === Infinity ? 0 : value)));
    values.forEach((value, column) => {
      const top = y + column * rowPx;
      parts.push(text(262, top + 13, columns[column]?.label ?? "", 12, INK, "end"));
      if (value === null) {
        parts.push(text(272, top + 13, "–", 12, MUTED));
        return;
      }
      const width = value === Infinity ? 0 : (value / most) * 250;
      const [first, own] = [columns[0]?.outcome, columns[column]?.outcome];
      const [before, after] = column === 0 || !first || !own ? [null, null] : both(metric, first, own);
      const found = before === null || after === null ? null : change(metric, before, after);
      const words = found === null ? "" : found.verdict === "same" ? " same" : ` ${found.text} ${found.verdict}`;
      parts.push(`<rect x='272' y='${top}' width='${round(width)}' height='16' fill='${columnColour(column, "light")}'/>`, text(280 + width, top + 13, `${shown(metric, value)}${words}`));
    });
    y += Math.max(36, columns.length * rowPx) + 14;
  }
  return page(760, y + 6, title, parts);
}

interface Scale {
  (value: number): number;
}

function logScale(from: number, to: number, start: number, end: number): Scale {
  const [a, b] = [Math.log10(from), Math.log10(to)];
  return (value) => start + ((Math.log10(value) - a) / (b - a)) * (end - start);
}

/** Response time against size, a panel for each discipline. */
export function responseSvg(columns: Labelled[], title: string): string {
  const sizes = columns.flatMap(({ outcome }) => range(outcome.transfers.size_bytes));
  const times = columns.flatMap(({ outcome }) => range(outcome.transfers.response_s));
  const [x0, x1] = decades(sizes, [1e3, 1e7]);
  const [y0, y1] = decades(times, [0.01, 10]);
  const [width, height, left, top] = [380, 300, 60, 50];
  const parts = [text(20, 28, title, 15, INK, "start", 600)];
  columns.forEach(({ label, outcome }, column) => {
    const offset = column * (width + 20);
    const x = logScale(x0, x1, offset + left, offset + width - 10);
    const y = logScale(y0, y1, top + height - 40, top + 24);
    parts.push(text(offset + left, top + 14, label, 13, INK, "start", 600));
    for (let power = Math.log10(x0); power <= Math.log10(x1) + 1e-9; power += 1) {
      const at = x(10 ** power);
      parts.push(`<path d='M${round(at)} ${top + 24}V${top + height - 40}' stroke='${LINE}'/>`, text(at, top + height - 24, bytesShown(Math.round(10 ** power)), 10, MUTED, "middle"));
    }
    for (let power = Math.log10(y0); power <= Math.log10(y1) + 1e-9; power += 1) {
      const at = y(10 ** power);
      parts.push(`<path d='M${offset + left} ${round(at)}H${offset + width - 10}' stroke='${LINE}'/>`, text(offset + left - 6, at + 4, duration(10 ** Math.round(power)), 10, MUTED, "end"));
    }
    const { transfers, kinds } = outcome;
    const dots = new Map<string, string[]>();
    transfers.id.forEach((_, at) => {
      const time = transfers.response_s[at];
      if (time === null || time === undefined || time <= 0) return;
      const colour = kindColour(kinds[transfers.kind[at] ?? 0] ?? "", "light");
      const list = dots.get(colour) ?? [];
      list.push(`M${round(x(Math.max(1, transfers.size_bytes[at] ?? 1)))} ${round(y(time))}h0`);
      dots.set(colour, list);
    });
    for (const [colour, list] of dots) parts.push(`<path d='${list.join("")}' stroke='${colour}' stroke-width='3' stroke-linecap='round' fill='none'/>`);
    parts.push(text(offset + left + (width - left) / 2, top + height - 6, "size", 11, MUTED, "middle"));
  });
  const used = [...new Set(columns.flatMap(({ outcome }) => [...new Set(outcome.transfers.kind)].map((kind) => outcome.kinds[kind] ?? "")))].filter((kind) => kind !== "");
  let at = left;
  for (const kind of used) {
    parts.push(`<rect x='${at}' y='${top + height + 2}' width='10' height='10' fill='${kindColour(kind, "light")}'/>`, text(at + 14, top + height + 11, kind, 11));
    at += 30 + kind.length * 7;
  }
  return page(Math.max(420, columns.length * (width + 20)), top + height + 24, title, parts);
}

/** The queue over the run. */
export function queueSvg(columns: Labelled[], title: string): string {
  const [width, height, left, top] = [760, 300, 60, 44];
  const end = Math.max(1e-6, ...columns.map(({ outcome }) => outcome.queue.time_s.at(-1) ?? 0));
  const most = Math.max(1, ...columns.flatMap(({ outcome }) => range(outcome.queue.packets)));
  const x = (time: number): number => left + (time / end) * (width - left - 20);
  const y = (packets: number): number => top + height - (packets / most) * height;
  const parts = [text(20, 28, title, 15, INK, "start", 600)];
  for (let step = 0; step <= 4; step += 1) {
    const at = y((most * step) / 4);
    parts.push(`<path d='M${left} ${round(at)}H${width - 20}' stroke='${LINE}'/>`, text(left - 6, at + 4, three((most * step) / 4), 11, MUTED, "end"));
    parts.push(text(x((end * step) / 4), top + height + 18, `${three((end * step) / 4)} s`, 11, MUTED, "middle"));
  }
  columns.forEach(({ label, outcome }, column) => {
    const { queue } = outcome;
    const line = queue.time_s.map((time, at) => `${at === 0 ? "M" : "L"}${round(x(time))} ${round(y(queue.packets[at] ?? 0))}`).join("");
    const dash = columnDash(column).join(" ");
    const colour = columnColour(column, "light");
    parts.push(`<path d='${line}' fill='none' stroke='${colour}' stroke-width='1.5'${dash ? ` stroke-dasharray='${dash}'` : ""}/>`);
    parts.push(`<path d='M${left + column * 150} ${top + height + 36}h24' stroke='${colour}' stroke-width='2'${dash ? ` stroke-dasharray='${dash}'` : ""}/>`, text(left + column * 150 + 30, top + height + 40, label, 12));
  });
  return page(width, top + height + 54, `${title}: packets waiting`, parts);
}

function range(values: (number | null)[]): number[] {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null || value <= 0) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return most > 0 ? [least, most] : [];
}

function decades(values: number[], otherwise: [number, number]): [number, number] {
  if (values.length === 0) return otherwise;
  const low = 10 ** Math.floor(Math.log10(Math.min(...values)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...values)) + 1e-9);
  return [low, Math.max(high, low * 10)];
}

export type Drawing = "figures" | "response" | "queue";

export function drawing(kind: Drawing, columns: Labelled[], title: string, users: Metric[]): string {
  return { figures: figuresSvg, response: responseSvg, queue: queueSvg }[kind](columns, title, users);
}
