/** The state as lines for a terminal, for Python, and as a file. The templates are Python's, in `catalogue.json`; here they are filled in. */

import type { Catalogue, Info } from "../engine/types";
import { labelOf, linkShown, type Shown, type State } from "../state/state";
import { bufferOf, limitText, rateWords, rttText, type Limit } from "../state/units";

export interface Line {
  id: string;
  title: string;
  text: string;
  /** What the text does not say of the state. */
  note: string | null;
  /** Under which it is saved; null: a line to copy. */
  file: string | null;
}

type Values = Record<string, string>;

/** Puts values into braces; a brace without a value is a fault of the template or of this page, and is told. */
export function fill(template: string, values: Values): string {
  return template.replace(/\{([a-z_]+)\}/g, (brace, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for ${brace} of a template`);
    return value;
  });
}

/** A word for a shell, in quotes where it has to be. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function pythonText(text: string): string {
  return JSON.stringify(text);
}

/** Both ways, with a stroke where they differ. */
function both(down: string, up: string): string {
  return down === up ? down : `${down}/${up}`;
}

interface Network {
  rate: string;
  reverse_rate: string;
  buffer: string;
  reverse_buffer: string;
  delay: string;
}

function limitOf(shown: Shown, up: boolean): Limit {
  const limit = up ? (shown.reverse_limit ?? shown.limit) : shown.limit;
  // A scenario knows no time for a buffer: it gets the bytes.
  return "ms" in limit ? bufferOf(limit, up ? (shown.reverse_rate_bps ?? shown.rate_bps) : shown.rate_bps) : limit;
}

function network(shown: Shown, info: Info, fixed_rtt_s: number): Network {
  const rtt = shown.rtt_s ?? info.rtt_median_s ?? fixed_rtt_s;
  return {
    rate: rateWords(shown.rate_bps),
    reverse_rate: rateWords(shown.reverse_rate_bps ?? shown.rate_bps),
    buffer: limitText(limitOf(shown, false)),
    reverse_buffer: limitText(limitOf(shown, true)),
    delay: rttText(Math.max(0, Math.round(((rtt - fixed_rtt_s) / 2) * 1e9) / 1e9)),
  };
}

/** `loads` has the command of each column; undefined where its run is not over. */
export function takeAlong(state: State, info: Info, catalogue: Catalogue, loads: readonly (string | null | undefined)[]): Line[] {
  const shown = linkShown(state, info);
  const labels = state.columns.map(labelOf);
  const lines = state.kind === "capture" ? ofCapture(state, info, shown, labels, catalogue) : ofPreset(state, info, shown, labels, catalogue);
  return [...lines, ...switchOn(state, loads, catalogue)];
}

function template(catalogue: Catalogue, name: string): string {
  const text = catalogue.commands[name];
  if (text === undefined) throw new Error(`the catalogue has no command ${name}`);
  return text;
}

/** `--seed` would draw other users. */
function seedNote({ seed }: State): string | null {
  return seed === 1 ? null : "The same users; hosts and disciplines draw their random numbers from seed 1, not from that of the page.";
}

function ofPreset(state: State, info: Info, shown: Shown, labels: string[], catalogue: Catalogue): Line[] {
  const preset = catalogue.presets.find(({ name }) => name === state.workload);
  if (!preset) return [];
  const net = network(shown, info, preset.fixed_rtt_s);
  const values: Values = { ...net, scenario: preset.name, disciplines: labels.join(",") };
  const attack = state.attack && catalogue.attacks.find(({ id }) => id === state.attack?.kind);
  const attackValues: Values = state.attack ? { rate: rateWords(state.attack.rate_bps), connections: String(state.attack.connections) } : {};

  let command = fill(template(catalogue, "compare"), values);
  let file = fill(preset.scenario, values).replace(/^disciplines = .*$/m, `disciplines = [${labels.map(pythonText).join(", ")}]`);
  file = file.replace(/^(buffer = )"(\d+)"$/m, "$1$2");
  const ways = net.buffer === net.reverse_buffer ? null : net.reverse_buffer;
  if (ways !== null) {
    command += ` --set network.reverse_buffer=${ways}`;
    file = file.replace(/^(buffer = .*)$/m, `$1\nreverse_buffer = ${/^\d+$/.test(ways) ? ways : pythonText(ways)}`);
  }
  if (attack) {
    command += fill(template(catalogue, "compare_attack"), { source: attack.source, value: fillLoose(attack.value, attackValues) });
    file = `${file.trimEnd()}\n\n${fillLoose(attack.section, attackValues)}`;
  }
  const python = fill(template(catalogue, "python_compare"), {
    rate: pythonText(net.rate),
    reverse_rate: pythonText(net.reverse_rate),
    buffer: /^\d+$/.test(net.buffer) ? net.buffer : pythonText(net.buffer),
    delay: pythonText(net.delay),
    scenario: pythonText(preset.name),
    disciplines: `[${labels.map(pythonText).join(", ")}]`,
  });
  const saved = `${preset.name}-explored.toml`;
  const missing = [
    ...(attack ? ["the attacker"] : []),
    ...(ways === null ? [] : ["the buffer of the way up"]),
    ...(state.seed === 1 ? [] : ["the seed"]),
  ];
  return [
    { id: "command", title: "Command line", text: command, note: seedNote(state), file: null },
    {
      id: "python",
      title: "Python",
      text: python,
      note: missing.length > 0 ? `Without ${missing.join(" and ")}: load the scenario file in place of the name.` : null,
      file: null,
    },
    {
      id: "scenario",
      title: "Scenario file",
      text: file,
      note: `Run it with: ${fill(template(catalogue, "compare_file"), { ...values, file: saved })}`,
      file: saved,
    },
  ];
}

/** Values of an attack have braces of TOML around them: only the names that are known are filled in. */
function fillLoose(text: string, values: Values): string {
  return text.replace(/\{(rate|connections)\}/g, (brace, name: string) => values[name] ?? brace);
}

function ofCapture(state: State, info: Info, shown: Shown, labels: string[], catalogue: Catalogue): Line[] {
  const down = limitText(limitOf(shown, false));
  const up = limitText(limitOf(shown, true));
  const rates = both(rateWords(shown.rate_bps), rateWords(shown.reverse_rate_bps ?? shown.rate_bps));
  const values: Values = {
    capture: shellWord(state.workload),
    rate: rateWords(shown.rate_bps),
    reverse_rate: rateWords(shown.reverse_rate_bps ?? shown.rate_bps),
    buffer: "ms" in shown.limit ? limitText(shown.limit) : both(down, up),
    disciplines: labels.join(","),
  };
  const rtt = shown.rtt_s !== null && shown.rtt_s !== info.rtt_median_s ? rttText(shown.rtt_s) : null;
  let command = fill(template(catalogue, "whatif"), values);
  if (rtt !== null) command += fill(template(catalogue, "whatif_rtt"), { rtt });
  for (const internal of state.internal ?? []) command += fill(template(catalogue, "whatif_internal"), { network: internal });
  const buffer = values["buffer"] ?? "";
  const python = fill(template(catalogue, rtt === null ? "python_whatif" : "python_whatif_rtt"), {
    ...(rtt === null ? {} : { rtt: pythonText(rtt) }),
    capture: pythonText(state.workload),
    rates: pythonText(rates),
    buffer: /^\d+$/.test(buffer) ? buffer : pythonText(buffer),
    disciplines: pythonText(labels.join(",")),
  });
  const note = [`Run it in the folder of ${state.workload}, or put the path of the capture there.`, seedNote(state)].filter((part) => part !== null).join(" ");
  return [
    { id: "command", title: "Command line", text: command, note, file: null },
    { id: "python", title: "Python", text: python, note, file: null },
  ];
}

/** One line a discipline: what puts it at an interface of Linux, in both directions. The engine says it with the run. */
function switchOn(state: State, loads: readonly (string | null | undefined)[], catalogue: Catalogue): Line[] {
  return state.columns.map((column, place) => {
    const title = `Switch on ${labelOf(column)}`;
    const id = `switch-${place}`;
    const load = loads[place];
    if (load === undefined) return { id, title, text: "", note: "Its run is not over.", file: null };
    const runs = catalogue.disciplines.find((row) => row.id === column.id)?.runs ?? "";
    if (load === null) return { id, title, text: "", note: `No command of Mayfly switches it on: it runs ${runs}.`, file: null };
    return { id, title, text: load, note: "On the router, for the interface towards the link; here eth0. It shapes both directions to 95 % of their rates.", file: null };
  });
}
