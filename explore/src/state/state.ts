/** Everything that the address says: what is simulated, and what is looked at. */

import type { Attack, Buffer, Catalogue, Discipline, Info, Request, Span } from "../engine/types";
import { bufferOf, plainOption, type Limit } from "./units";

export const TABS = ["queue", "response", "length", "waits", "why", "take"] as const;
export type Tab = (typeof TABS)[number];

export const MOST_COLUMNS = 6;

export interface State {
  workload: string;
  kind: "preset" | "capture";
  /** Of a capture: networks on the near side; null where they are inferred. */
  internal: string[] | null;
  /** Each null: that of the workload. */
  link: { rate_bps: number | null; reverse_rate_bps: number | null; limit: Limit | null; rtt_s: number | null };
  columns: Discipline[];
  seed: number;
  attack: Attack | null;
  tab: Tab;
  /** The part of the run that the animation shows, and where in it. */
  inside: { from_s: number | null; length_s: number; at_s: number | null; up: boolean };
  /** The transfer whose life is open: its column and id. */
  life: { column: number; flow: number } | null;
}

export function initialState(): State {
  return {
    workload: "office",
    kind: "preset",
    internal: null,
    link: { rate_bps: null, reverse_rate_bps: null, limit: null, rtt_s: null },
    columns: [
      { id: "fifo", options: {} },
      { id: "lfq", options: {} },
    ],
    seed: 1,
    attack: null,
    tab: "queue",
    inside: { from_s: null, length_s: 2, at_s: null, up: false },
    life: null,
  };
}

/** The link of a state over a workload: what the sliders show. */
export interface Shown {
  rate_bps: number;
  reverse_rate_bps: number | null;
  limit: Limit;
  /** Of the way up; null: as down. */
  reverse_limit: Limit | null;
  rtt_s: number | null;
}

export function linkShown(state: State, info: Info): Shown {
  const { link } = state;
  return {
    rate_bps: link.rate_bps ?? info.link.rate_bps,
    // A rate that was set holds both ways until the other is set, too.
    reverse_rate_bps: link.reverse_rate_bps ?? (link.rate_bps === null ? info.link.reverse_rate_bps : null),
    limit: link.limit ?? info.link.buffer,
    reverse_limit: link.limit === null ? (info.link.reverse_buffer ?? null) : null,
    rtt_s: link.rtt_s ?? info.link.rtt_s,
  };
}

/** The buffer of the way up, where it is not that of the way down: a time is other bytes at another rate. */
function reverseBuffer(shown: Shown): Buffer | null {
  const limit = shown.reverse_limit ?? shown.limit;
  const same = shown.reverse_limit === null && (!("ms" in limit) || shown.reverse_rate_bps === null);
  return same ? null : bufferOf(limit, shown.reverse_rate_bps ?? shown.rate_bps);
}

export function requestOf(state: State, info: Info, column: number, inside: Span | null): Request {
  const shown = linkShown(state, info);
  const discipline = state.columns[column] as Discipline;
  return {
    workload: info.name,
    link: {
      rate_bps: shown.rate_bps,
      reverse_rate_bps: shown.reverse_rate_bps,
      buffer: bufferOf(shown.limit, shown.rate_bps),
      reverse_buffer: reverseBuffer(shown),
      rtt_s: shown.rtt_s,
    },
    discipline: { id: discipline.id, options: Object.fromEntries(Object.entries(discipline.options).map(([name, value]) => [name, plainOption(value)])) },
    seed: state.seed,
    attack: state.attack,
    inside,
  };
}

/** As commands and columns name it: `lfq(debt=1)`. */
export function labelOf({ id, options }: Discipline): string {
  const words = Object.entries(options).map(([name, value]) => `${name}=${value}`);
  return words.length > 0 ? `${id}(${words.join(",")})` : id;
}

/** `lfq(debt=1)` read back; null where it is not a label of the catalogue. */
export function disciplineOf(label: string, catalogue: Catalogue): Discipline | null {
  const found = /^([a-z0-9_]+)(?:\((.*)\))?$/.exec(label.trim());
  const row = found && catalogue.disciplines.find(({ id }) => id === found[1]);
  if (!found || !row) return null;
  const options: Record<string, string> = {};
  for (const word of (found[2] ?? "").split(",").filter((part) => part.trim() !== "")) {
    const [name, ...rest] = word.split("=");
    const value = rest.join("=").trim();
    if (!name || value === "" || value.length > 60 || !row.options.some((option) => option.name === name.trim())) return null;
    options[name.trim()] = value;
  }
  return { id: row.id, options };
}
