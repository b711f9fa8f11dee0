/**
 * State to the part of the address behind `#`, and back. Only what differs from a fresh page is written, with the units of the command
 * line, so that a link in a text can be read: `#workload=office&rate=10mbit&buffer=300&d=fifo&d=lfq`.
 */

import type { Catalogue } from "../engine/types";
import { disciplineOf, initialState, labelOf, MOST_COLUMNS, TABS, type State, type Tab } from "./state";
import { limitText, parseLimit, parseRate, parseRtt, rateText, rttText, type Parsed } from "./units";

export function toAddress(state: State): string {
  const fresh = initialState();
  const words = new URLSearchParams();
  if (state.kind === "capture") words.set("capture", state.workload);
  else words.set("workload", state.workload);
  if (state.kind === "capture" && state.internal) words.set("internal", state.internal.join(","));
  const { link, attack, inside } = state;
  if (link.rate_bps !== null) words.set("rate", rateText(link.rate_bps));
  if (link.reverse_rate_bps !== null) words.set("up", rateText(link.reverse_rate_bps));
  if (link.limit !== null) words.set("buffer", limitText(link.limit));
  if (link.rtt_s !== null) words.set("rtt", rttText(link.rtt_s));
  for (const column of state.columns) words.append("d", labelOf(column));
  if (state.seed !== fresh.seed) words.set("seed", String(state.seed));
  if (attack) words.set("attack", `${attack.kind},${rateText(attack.rate_bps)},${attack.connections}`);
  if (state.tab !== fresh.tab) words.set("show", state.tab);
  if (inside.from_s !== null) words.set("from", seconds(inside.from_s));
  if (inside.length_s !== fresh.inside.length_s) words.set("for", seconds(inside.length_s));
  if (inside.at_s !== null) words.set("at", seconds(inside.at_s));
  if (inside.up) words.set("way", "up");
  if (state.life) words.set("life", `${state.life.column},${state.life.flow}`);
  // Readable where a browser does not mind.
  return words.toString().replaceAll("%2C", ",").replaceAll("%28", "(").replaceAll("%29", ")").replaceAll("%2F", "/");
}

/** The state of an address, and a sentence for each part that could not be read: the rest still holds. */
export function fromAddress(hash: string, catalogue: Catalogue): { state: State; problems: string[] } {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const state = initialState();
  const problems: string[] = [];

  const capture = words.get("capture");
  const workload = words.get("workload");
  if (capture) {
    state.kind = "capture";
    state.workload = capture.slice(0, 200);
    state.internal = words.get("internal")?.split(",").filter((part) => part !== "") ?? null;
  } else if (workload && catalogue.presets.some(({ name }) => name === workload)) {
    state.workload = workload;
  } else if (workload) {
    problems.push(`There is no workload ${quoted(workload)}; this is ${state.workload}.`);
  }

  function read<T>(name: string, parse: (text: string) => Parsed<T>): T | null {
    const text = words.get(name);
    if (text === null) return null;
    const parsed = parse(text);
    if ("value" in parsed) return parsed.value;
    problems.push(`${name}=${quoted(text)} in the address was left out. ${parsed.problem}`);
    return null;
  }

  state.link = {
    rate_bps: read("rate", parseRate),
    reverse_rate_bps: read("up", parseRate),
    limit: read("buffer", parseLimit),
    rtt_s: read("rtt", parseRtt),
  };
  const columns = words.getAll("d").slice(0, MOST_COLUMNS).flatMap((label) => {
    const column = disciplineOf(label, catalogue);
    if (column === null) problems.push(`There is no discipline ${quoted(label)}.`);
    return column ?? [];
  });
  if (columns.length > 0) state.columns = columns;
  state.seed = read("seed", (text) => whole(text, 0, Number.MAX_SAFE_INTEGER)) ?? state.seed;
  state.attack = read("attack", (text) => attackOf(text, catalogue));
  const tab = words.get("show");
  if (tab !== null && (TABS as readonly string[]).includes(tab)) state.tab = tab as Tab;
  state.inside = {
    from_s: read("from", time),
    length_s: read("for", time) ?? state.inside.length_s,
    at_s: read("at", time),
    up: words.get("way") === "up",
  };
  state.life = read("life", (text) => {
    const found = /^(\d),(\d{1,15})$/.exec(text);
    const column = Number(found?.[1]);
    return found && column < state.columns.length ? { value: { column, flow: Number(found[2]) } } : { problem: "It is a column and a transfer." };
  });
  return { state, problems };
}

function attackOf(text: string, catalogue: Catalogue): Parsed<State["attack"]> {
  const [kind = "", rate = "", count = ""] = text.split(",");
  const rateParsed = parseRate(rate);
  const connections = whole(count, 1, 10_000);
  if (!catalogue.attacks.some(({ id }) => id === kind) || "problem" in rateParsed || "problem" in connections) {
    return { problem: `Write it as in spaced,5mbit,8; there are ${catalogue.attacks.map(({ id }) => id).join(", ")}.` };
  }
  return { value: { kind, rate_bps: rateParsed.value, connections: connections.value } };
}

function whole(text: string, least: number, most: number): Parsed<number> {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  return value >= least && value <= most ? { value } : { problem: `It is a whole number from ${least} to ${most}.` };
}

function time(text: string): Parsed<number> {
  const value = /^\d{1,7}(\.\d{1,9})?$/.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? { value } : { problem: "It is a number of seconds." };
}

function seconds(value: number): string {
  return String(Number(value.toFixed(6)));
}

function quoted(text: string): string {
  return `“${text.length > 60 ? `${text.slice(0, 57)}…` : text}”`;
}
