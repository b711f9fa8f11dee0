/** Data as CSV (RFC 4180), one file for each table. */

import type { Outcome } from "../engine/types";
import { ATTACK_METRIC, LINK_METRICS, type Metric } from "../figures/metrics";

type Value = string | number | null | undefined;

export interface Labelled {
  label: string;
  outcome: Outcome;
}

export function csv(head: string[], rows: Iterable<Value[]>): string {
  const lines = [head.map(word).join(",")];
  for (const row of rows) lines.push(row.map(word).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function word(value: Value): string {
  if (value === null || value === undefined) return "";
  const text = value === Infinity ? "inf" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const UNITS = { s: "s", mos: "MOS", share: "1", ratio: "1", mbps: "Mbit/s" };

/** `users` are the figures of what users feel. */
export function figuresCsv(columns: Labelled[], users: Metric[]): string {
  const metrics = [...users, ATTACK_METRIC, ...LINK_METRICS];
  return csv(
    ["discipline", "figure", "value", "unit"],
    columns.flatMap(({ label, outcome }) => metrics.map((metric) => [label, metric.id, metric.value(outcome), UNITS[metric.unit]])),
  );
}

export function transfersCsv(columns: Labelled[]): string {
  function* rows(): Generator<Value[]> {
    for (const { label, outcome } of columns) {
      const { transfers: t, kinds } = outcome;
      for (let at = 0; at < t.id.length; at += 1) {
        yield [label, t.id[at], t.size_bytes[at], t.start_s[at], t.response_s[at], t.up[at] ? "up" : "down", kinds[t.kind[at] ?? -1]];
      }
    }
  }
  return csv(["discipline", "flow_id", "size_bytes", "start_s", "response_s", "direction", "kind"], rows());
}

export function queueCsv(columns: Labelled[]): string {
  function* rows(): Generator<Value[]> {
    for (const { label, outcome } of columns) {
      const { queue } = outcome;
      for (let at = 0; at < queue.time_s.length; at += 1) yield [label, queue.time_s[at], queue.packets[at], queue.bytes[at]];
    }
  }
  return csv(["discipline", "time_s", "backlog_packets", "backlog_bytes"], rows());
}

export function waitsCsv(columns: Labelled[]): string {
  function* rows(): Generator<Value[]> {
    for (const { label, outcome } of columns) {
      for (const { direction, seconds } of outcome.waits ?? []) {
        for (const [victim, row] of seconds.entries()) {
          for (const [cause, wait] of row.entries()) yield [label, direction, outcome.kinds[victim], outcome.kinds[cause], wait];
        }
      }
    }
  }
  return csv(["discipline", "direction", "waits", "while_sent", "seconds"], rows());
}
