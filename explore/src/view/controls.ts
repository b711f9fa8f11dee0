/** The link, the workload, the attacker: what the sliders say. */

import type { App } from "../app";
import type { Catalogue } from "../engine/types";
import { accountText } from "../state/account";
import { printable } from "../state/names";
import { ATTACK_RATE_STEPS, CONNECTION_STEPS, MS_STEPS, nearestStep, PACKET_STEPS, RATE_STEPS, RTT_STEPS } from "../state/steps";
import { linkShown, type State } from "../state/state";
import {
  duration,
  limitShown,
  limitText,
  parseLimit,
  parseRate,
  parseRtt,
  rateShown,
  rateText,
  rttText,
  type Limit,
  type Parsed,
} from "../state/units";
import { h, setText, type Child } from "./dom";
import { field } from "./field";
import type { View } from "./page";

const PACKET_LIMITS: readonly Limit[] = PACKET_STEPS.map((packets) => ({ packets }));
const MS_LIMITS: readonly Limit[] = MS_STEPS.map((ms) => ({ ms }));

export function controls(app: App): View {
  const link = linkControls(app);
  const workload = workloadControls(app);
  const attack = attackControls(app);
  return {
    root: h("div", { class: "groups" }, workload.root, link.root, attack.root),
    update() {
      workload.update();
      link.update();
      attack.update();
    },
  };
}

function group(title: string, ...children: Child[]): HTMLElement {
  return h("fieldset", {}, h("legend", {}, title), ...children);
}

function linkControls(app: App): View {
  const down = field<number>({
    label: "Rate down",
    steps: RATE_STEPS,
    place: nearestStep,
    parse: parseRate,
    text: rateText,
    spoken: rateShown,
    changed: (value) => app.change(({ link }) => {
      // A rate up that came with the workload stays where it is.
      if (link.rate_bps === null && link.reverse_rate_bps === null) link.reverse_rate_bps = app.info?.link.reverse_rate_bps ?? null;
      link.rate_bps = value;
    }),
  });
  const up = field<number>({
    label: "Rate up",
    steps: RATE_STEPS,
    place: nearestStep,
    parse: parseRate,
    text: rateText,
    spoken: rateShown,
    changed: (value) => app.change(({ link }) => {
      link.rate_bps ??= app.info?.link.rate_bps ?? null;
      link.reverse_rate_bps = value;
    }),
  });
  const both = h("input", {
    type: "checkbox",
    id: "both-ways",
    onchange: () => app.change(({ link }) => {
      if (!app.info) return;
      const shown = linkShown(app.state, app.info);
      link.rate_bps = shown.rate_bps;
      link.reverse_rate_bps = both.checked ? null : shown.rate_bps;
    }),
  });
  const bothRow = h("p", { class: "check" }, both, h("label", { for: "both-ways" }, "Up as fast as down"));
  const buffer = field<Limit>({
    label: "Buffer",
    steps: PACKET_LIMITS,
    place: placeOfLimit,
    parse: parseLimit,
    text: (limit) => ("packets" in limit ? limitShown(limit) : limitText(limit)),
    spoken: limitShown,
    changed: (value) => app.change(({ link }) => (link.limit = value)),
  });
  const unit = h(
    "select",
    {
      "aria-label": "Unit of the buffer",
      onchange: () => app.change((state) => changeUnit(app, state, unit.value)),
    },
    h("option", { value: "packets" }, "in packets"),
    h("option", { value: "ms" }, "in time"),
  );
  buffer.root.querySelector("label")?.after(unit);
  const rtt = field<number>({
    label: "Round trip",
    hint: "without queueing",
    steps: RTT_STEPS,
    place: nearestStep,
    parse: (text): Parsed<number> => {
      const parsed = parseRtt(text);
      const least = app.info?.fixed_rtt_s;
      if ("value" in parsed && least !== undefined && parsed.value < least) {
        return { problem: `The hosts of this workload are ${duration(least)} apart: it cannot be less.` };
      }
      return parsed;
    },
    text: rttText,
    spoken: duration,
    changed: (value) => app.change(({ link }) => (link.rtt_s = Math.max(value, app.info?.fixed_rtt_s ?? 0))),
  });
  const reset = h(
    "button",
    { type: "button", class: "quiet", onclick: () => app.change((state) => (state.link = { rate_bps: null, reverse_rate_bps: null, limit: null, rtt_s: null })) },
    "As the workload comes",
  );
  let scale = "packets";

  return {
    root: group("Link", down.root, up.root, bothRow, buffer.root, rtt.root, reset),
    update() {
      const { info, state } = app;
      const off = info === null;
      for (const each of [down, up, buffer, rtt]) each.disable(off);
      both.disabled = off;
      unit.disabled = off;
      reset.disabled = off || Object.values(state.link).every((value) => value === null);
      if (info === null) return;
      const shown = linkShown(state, info);
      const next = "ms" in shown.limit ? "ms" : "packets";
      if (next !== scale) {
        scale = next;
        buffer.rescale(scale === "ms" ? MS_LIMITS : PACKET_LIMITS);
      }
      unit.value = scale;
      down.show(shown.rate_bps);
      up.show(shown.reverse_rate_bps ?? shown.rate_bps);
      up.disable(shown.reverse_rate_bps === null);
      both.checked = shown.reverse_rate_bps === null;
      buffer.show(shown.limit);
      const roundTrip = shown.rtt_s ?? info.rtt_median_s;
      rtt.show(roundTrip);
      // Round trips of a capture are multiplied: where none is known there is nothing to multiply.
      rtt.disable(roundTrip === null);
    },
  };
}

function placeOfLimit(steps: readonly Limit[], limit: Limit): number {
  const size = (value: Limit): number => ("packets" in value ? value.packets : "ms" in value ? value.ms : value.bytes / 1500);
  return nearestStep(steps.map(size), Math.max(size(limit), 1e-3));
}

/** The same buffer in the other unit, for full packets. */
function changeUnit(app: App, state: State, unit: string): void {
  if (!app.info) return;
  const { limit, rate_bps } = linkShown(state, app.info);
  const bytes = "packets" in limit ? limit.packets * 1500 : "bytes" in limit ? limit.bytes : (limit.ms * rate_bps) / 8e3;
  const steps = unit === "ms" ? MS_STEPS : PACKET_STEPS;
  const exact = unit === "ms" ? (bytes * 8e3) / rate_bps : bytes / 1500;
  const value = steps[nearestStep(steps, exact)] ?? 1;
  state.link.limit = unit === "ms" ? { ms: value } : { packets: value };
}

function workloadControls(app: App): View {
  const file = h("input", {
    type: "file",
    id: "capture-file",
    accept: ".pcap,.pcapng,.cap,.dmp,.gz,.zst,.lz4",
    class: "unseen",
    tabindex: -1,
    "aria-hidden": "true",
    onchange: () => {
      const [first] = file.files ?? [];
      if (first) void app.chooseFile(first);
      file.value = "";
    },
  });
  const select = h(
    "select",
    {
      id: "workload",
      onchange: () => {
        const [kind, ...rest] = select.value.split(":");
        const name = rest.join(":");
        if (kind === "preset") app.choosePreset(name);
        else if (kind === "capture" && app.engine.captures.includes(name)) void app.openCapture(name, null, null);
      },
    },
  );
  const drop = h(
    "button",
    { type: "button", class: "drop", onclick: () => file.click() },
    h("strong", {}, "Drop or choose a capture"),
    h("span", {}, "pcap, pcapng; .gz, .zst, .lz4"),
  );
  const about = h("p", { class: "about" });
  const notes = h("ul", { class: "notes" });
  const internal = h("input", {
    type: "text",
    id: "internal",
    class: "exact wide",
    placeholder: "inferred",
    autocomplete: "off",
    spellcheck: "false",
    onchange: () => {
      const near = internal.value.split(/[\s,]+/).filter((part) => part !== "");
      void reopen(near.length > 0 ? near : null);
    },
  });
  const internalRow = h("p", { class: "row" }, h("label", { for: "internal" }, "Near side"), internal);

  // The bytes that were dropped last, so that another near side does not ask for them again.
  let dropped: { name: string; file: File } | null = null;

  async function reopen(near: string[] | null): Promise<void> {
    const { workload } = app.state;
    if (app.engine.captures.includes(workload)) await app.openCapture(workload, null, near);
    else if (dropped?.name === workload) await app.openCapture(workload, await dropped.file.arrayBuffer(), near);
  }

  const chooseFile = app.chooseFile.bind(app);
  app.chooseFile = async (chosen: File) => {
    dropped = { name: printable(chosen.name), file: chosen };
    await chooseFile(chosen);
  };

  // The whole page takes a drop, so that a miss does not leave it.
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.documentElement.classList.add("dragging");
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) document.documentElement.classList.remove("dragging");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.documentElement.classList.remove("dragging");
    const [first] = event.dataTransfer?.files ?? [];
    if (first) void app.chooseFile(first);
  });

  let listed = "";

  return {
    root: group("Workload", h("p", { class: "row" }, h("label", { for: "workload", class: "unseen" }, "Workload"), select), drop, file, about, internalRow, notes),
    update() {
      const { state, info, catalogue } = app;
      const captures = [...new Set([...app.engine.captures, ...(state.kind === "capture" ? [state.workload] : [])])];
      const list = JSON.stringify(captures);
      if (list !== listed) {
        listed = list;
        select.replaceChildren(
          h("optgroup", { label: "Presets" }, ...presetOptions(catalogue)),
          ...(captures.length > 0
            ? [h("optgroup", { label: "Captures" }, ...captures.map((name) => h("option", { value: `capture:${name}` }, name)))]
            : []),
        );
      }
      select.value = `${state.kind}:${state.workload}`;
      internalRow.hidden = state.kind !== "capture" || info === null;
      if (document.activeElement !== internal) internal.value = state.internal?.join(", ") ?? "";
      setText(about, app.loading ? "It is being read." : info === null ? "" : describe(info));
      const lines = info?.notes ?? [];
      notes.hidden = lines.length === 0;
      if (notes.textContent !== lines.join("")) notes.replaceChildren(...lines.map((line) => h("li", {}, line)));
    },
  };
}

function presetOptions(catalogue: Catalogue): HTMLElement[] {
  return catalogue.presets.map(({ name, title }) => h("option", { value: `preset:${name}`, title }, title.split(/[:.]/)[0] ?? name));
}

function describe(info: NonNullable<App["info"]>): string {
  const parts = [`${info.flows.toLocaleString("en-US")} flows in ${duration(info.span_s)}`];
  if (info.offered) parts.push(`${rateShown(info.offered.down_mbps * 1e6)} down, ${rateShown(info.offered.up_mbps * 1e6)} up`);
  parts.push(...(info.account ?? []).flatMap((account) => accountText(account) ?? []));
  const title = info.kind === "preset" ? `${info.title}. ` : "";
  return `${title}${parts.join("; ")}.`;
}

function attackControls(app: App): View {
  const { attacks, presets } = app.catalogue;
  const select = h(
    "select",
    { id: "attack", onchange: () => choose(select.value) },
    h("option", { value: "" }, "Nobody"),
    ...attacks.map(({ id, title }) => h("option", { value: id }, title)),
  );
  const rate = field<number>({
    label: "Rate of the attacker",
    steps: ATTACK_RATE_STEPS,
    place: nearestStep,
    parse: parseRate,
    text: rateText,
    spoken: rateShown,
    changed: (value) => app.change((state) => {
      if (state.attack) state.attack = { ...state.attack, rate_bps: value };
    }),
  });
  const connections = field<number>({
    label: "Connections",
    steps: CONNECTION_STEPS,
    place: nearestStep,
    parse: (text) => (/^\s*\d{1,3}\s*$/.test(text) && Number(text) >= 1 && Number(text) <= 256 ? { value: Number(text) } : { problem: "Write a whole number from 1 to 256." }),
    text: String,
    spoken: (value) => `${value} ${value === 1 ? "connection" : "connections"}`,
    changed: (value) => app.change((state) => {
      if (state.attack) state.attack = { ...state.attack, connections: value };
    }),
  });
  const about = h("p", { class: "about" });

  function choose(kind: string): void {
    if (kind === "") {
      app.change((state) => (state.attack = null));
      return;
    }
    const open = presets.find(({ name }) => name === app.state.workload)?.attacks === true && app.state.kind === "preset";
    const other = presets.find((preset) => preset.attacks);
    // Only some workloads are made to be joined: a user of each has hosts of its own.
    if (!open && other) app.choosePreset(other.name);
    app.change((state) => {
      const rateBps = state.attack?.rate_bps ?? 5_000_000;
      state.attack = { kind, rate_bps: rateBps, connections: state.attack?.connections ?? 8 };
    });
  }

  return {
    root: group("Attacker", h("p", { class: "row" }, h("label", { for: "attack", class: "unseen" }, "Attacker"), select), about, rate.root, connections.root),
    update() {
      const { attack } = app.state;
      const row = attacks.find(({ id }) => id === attack?.kind);
      select.value = attack?.kind ?? "";
      const joins = presets.find((preset) => preset.attacks);
      setText(about, row?.summary ?? (joins ? `Become a user who bends traffic to the scheduler, in the workload “${joins.title.split(":")[0] ?? joins.name}”.` : ""));
      rate.root.hidden = row?.of !== "rate_bps";
      connections.root.hidden = row?.of !== "connections";
      if (attack) {
        rate.show(attack.rate_bps);
        connections.show(attack.connections);
      }
    },
  };
}
