/** The large figures: a row for each thing that users feel, a column for each discipline, its change against the first. */

import type { App } from "../app";
import type { CatalogueDiscipline, Outcome } from "../engine/types";
import { ATTACK_METRIC, both, change, LINK_METRICS, neverEnded, shown, type Metric } from "../figures/metrics";
import { isOld } from "../run/runner";
import { labelOf, MOST_COLUMNS, type State } from "../state/state";
import { h, setText, uniqueId } from "./dom";
import type { View } from "./page";

interface Cell {
  root: HTMLTableCellElement;
  figure: HTMLElement;
  change: HTMLElement;
  detail: HTMLElement;
}

export function figures(app: App): View {
  const head = h("tr");
  const rows = [...app.metrics, ATTACK_METRIC, ...LINK_METRICS].map((metric) => ({ metric, row: h("tr", { class: LINK_METRICS.includes(metric) ? "minor" : "" }), cells: [] as Cell[] }));
  const firstMinor = rows.find(({ metric }) => metric === LINK_METRICS[0]);
  firstMinor?.row.classList.add("first");
  for (const { metric, row } of rows) {
    const better = metric.better === "neither" ? null : h("span", { class: "better-is" }, metric.better === "less" ? "less is better" : "more is better");
    row.append(h("th", { scope: "row" }, h("span", { class: "title" }, metric.title), h("span", { class: "hint" }, metric.about), better));
  }
  const table = h("table", { class: "figure-table" }, h("thead", {}, head), h("tbody", {}, ...rows.map(({ row }) => row)));
  const add = h("button", { type: "button", class: "quiet", onclick: () => addColumn() }, "Add a discipline");
  const time = h("span", { class: "hint", id: "took" });
  let columns: { root: HTMLElement; update(): void; error: HTMLElement }[] = [];
  let built = "";

  function addColumn(): void {
    app.change((state) => {
      const used = new Set(state.columns.map(({ id }) => id));
      const next = app.catalogue.disciplines.find(({ id, shortlist }) => shortlist && !used.has(id)) ?? app.catalogue.disciplines.find(({ id }) => !used.has(id));
      if (next && state.columns.length < MOST_COLUMNS) state.columns.push({ id: next.id, options: {} });
    });
  }

  function build(): void {
    const { state } = app;
    const wanted = state.columns.map(({ id }) => id).join(",");
    if (wanted === built) return;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["focus"] : undefined;
    built = wanted;
    table.style.setProperty("--columns", String(state.columns.length));
    columns = state.columns.map((_, place) => columnHead(app, place));
    head.replaceChildren(h("th", { scope: "col" }, h("span", { class: "unseen" }, "What users feel")), ...columns.map(({ root }) => root));
    for (const entry of rows) {
      entry.cells = state.columns.map(() => cell());
      while (entry.row.childElementCount > 1) entry.row.lastElementChild?.remove();
      entry.row.append(...entry.cells.map(({ root }) => root));
    }
    if (focused !== undefined) document.querySelector<HTMLElement>(`[data-focus="${focused}"]`)?.focus();
  }

  return {
    root: h(
      "div",
      {},
      h("div", { class: "bar" }, h("h2", { id: "figures-title" }, "What users feel"), time, add),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of figures" }, table),
    ),
    update() {
      build();
      const { state, slots } = app;
      add.disabled = state.columns.length >= MOST_COLUMNS;
      for (const column of columns) column.update();
      const first = slots[0]?.outcome ?? null;
      for (const { metric, row, cells } of rows) {
        if (metric.optional) row.hidden = !slots.some(({ outcome }) => outcome && metric.value(outcome) !== null);
        if (metric === ATTACK_METRIC) row.hidden = state.attack === null;
        cells.forEach((parts, place) => {
          const slot = slots[place];
          show(metric, parts, slot?.outcome ?? null, place === 0 ? null : first);
          parts.root.classList.toggle("old", slot !== undefined && (isOld(slot) || slot.error !== null));
          parts.root.classList.toggle("none", !slot?.outcome);
        });
      }
      const times = slots.map(({ took_ms }) => took_ms).filter((ms) => ms !== null);
      setText(time, app.settled() && times.length > 0 ? `computed in ${Math.max(1, Math.round(Math.max(...times)))} ms` : app.info ? "computing" : "");
    },
  };
}

function cell(): Cell {
  const figure = h("span", { class: "figure" });
  const difference = h("span", { class: "change" });
  const detail = h("span", { class: "detail" });
  return { root: h("td", {}, figure, difference, detail), figure, change: difference, detail };
}

function show(metric: Metric, parts: Cell, outcome: Outcome | null, first: Outcome | null): void {
  const value = outcome === null ? null : metric.value(outcome);
  setText(parts.figure, outcome === null ? "…" : value === null ? "–" : shown(metric, value));
  const detail = outcome === null ? "" : value === null ? (metric.absent ?? "") : metric.detail(outcome);
  setText(parts.detail, value === Infinity ? `${neverEnded(metric)}; ${detail}` : detail);
  const [before, after] = first === null || outcome === null ? [null, null] : both(metric, first, outcome);
  const found = metric.better === "neither" || before === null || after === null ? null : change(metric, before, after);
  parts.change.className = `change ${found?.verdict ?? ""}`;
  setText(parts.change, found === null ? "" : found.verdict === "same" ? "same" : `${found.text} ${found.verdict}`);
}

/** The head of a column: which discipline, its options, and what the engine says when they do not do. */
function columnHead(app: App, place: number): { root: HTMLElement; update(): void; error: HTMLElement } {
  const { disciplines } = app.catalogue;
  const id = uniqueId("column");
  const select = h(
    "select",
    {
      "aria-label": `Discipline of column ${place + 1}`,
      "data-focus": `discipline-${place}`,
      onchange: () => app.change((state) => (state.columns[place] = { id: select.value, options: {} })),
    },
    h("optgroup", { label: "Shortlist" }, ...options(disciplines.filter(({ shortlist }) => shortlist))),
    h("optgroup", { label: "All others" }, ...options(disciplines.filter(({ shortlist }) => !shortlist))),
  );
  const column = app.state.columns[place];
  const row = disciplines.find((entry) => entry.id === column?.id);
  const about = h("p", { class: "hint" }, row?.summary ?? "");
  const error = h("p", { class: "problem", role: "status", hidden: true });
  const summary = h("summary", { "data-focus": `options-${place}` }, "Options");
  const inputs = (row?.options ?? []).map((option) => optionInput(app, place, option.name, option));
  const details = row && row.options.length > 0 ? h("details", { class: "options" }, summary, ...inputs.map(({ root }) => root)) : null;
  const remove = h(
    "button",
    { type: "button", class: "quiet remove", "aria-label": `Remove ${column?.id ?? ""}, column ${place + 1}`, "data-focus": `remove-${place}`, onclick: () => app.change((state) => removeColumn(state, place)) },
    "Remove",
  );
  const role = h("span", { class: "role" }, place === 0 ? "compared with this" : "");
  const root = h("th", { scope: "col", id, class: "column-head" }, h("div", { class: "column-top" }, select, remove), role, about, details, error);
  return {
    root,
    error,
    update() {
      const now = app.state.columns[place];
      if (!now) return;
      select.value = now.id;
      remove.hidden = app.state.columns.length < 2;
      const set = Object.keys(now.options).length;
      setText(summary, set > 0 ? `Options: ${labelOf(now).slice(now.id.length + 1, -1)}` : "Options");
      for (const input of inputs) input.update();
      const text = app.slots[place]?.error ?? null;
      error.hidden = text === null;
      setText(error, text ?? "");
    },
  };
}

function removeColumn(state: State, place: number): void {
  if (state.columns.length < 2) return;
  state.columns.splice(place, 1);
  if (state.life) state.life = null;
}

function options(rows: CatalogueDiscipline[]): HTMLElement[] {
  return rows.map(({ id, summary }) => h("option", { value: id, title: summary }, id));
}

function optionInput(app: App, place: number, name: string, option: CatalogueDiscipline["options"][number]): { root: HTMLElement; update(): void } {
  const id = uniqueId("option");
  const set = (value: string): void =>
    app.change((state) => {
      const column = state.columns[place];
      if (!column) return;
      const others = Object.entries(column.options).filter(([other]) => other !== name);
      const own: [string, string][] = value === "" || value === String(option.default) ? [] : [[name, value]];
      state.columns[place] = { id: column.id, options: Object.fromEntries([...others, ...own]) };
    });
  const control = option.choices
    ? h("select", { id, onchange: () => set(control.value) }, ...option.choices.map((choice) => h("option", { value: choice }, choice)))
    : h("input", { id, type: "text", class: "exact", autocomplete: "off", spellcheck: "false", placeholder: String(option.default ?? ""), maxlength: 60, onchange: () => set(control.value.trim()) });
  return {
    root: h("p", { class: "option" }, h("label", { for: id, title: option.meaning }, name, option.unit ? h("span", { class: "hint" }, ` ${option.unit}`) : null), control, h("span", { class: "hint" }, option.meaning)),
    update() {
      const value = app.state.columns[place]?.options[name];
      if (document.activeElement === control) return;
      control.value = value ?? (option.choices ? String(option.default) : "");
    },
  };
}
