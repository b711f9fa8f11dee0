/** Who waits for whom: of each kind, how long a packet waits while packets of each other kind are sent. */

import type { App } from "../app";
import type { Outcome, Waits } from "../engine/types";
import { isOld } from "../run/runner";
import { labelOf } from "../state/state";
import { duration } from "../state/units";
import { h, setText } from "./dom";
import type { View } from "./page";

export function waits(app: App): View {
  const grid = h("div", { class: "plots matrices" });
  const message = h("p", { class: "about", role: "status" });
  const way = h("select", { id: "waits-way", onchange: () => app.render() }, h("option", { value: "down" }, "down"), h("option", { value: "up" }, "up"));
  let key: unknown[] = [];
  let seen = false;

  function told(outcome: Outcome | null | undefined): Waits | null {
    return outcome?.waits?.find(({ direction }) => direction === way.value) ?? null;
  }

  function build(): void {
    const most = Math.max(1e-9, ...app.insides.flatMap(({ outcome }) => told(outcome)?.seconds.flat() ?? []));
    grid.replaceChildren(
      ...app.state.columns.flatMap((column, at) => {
        const outcome = app.insides[at]?.outcome;
        const table = told(outcome);
        return outcome && table ? [matrix(labelOf(column), outcome.kinds, table, most)] : [];
      }),
    );
  }

  return {
    root: h(
      "div",
      {},
      h("div", { class: "bar" }, h("label", { for: "waits-way" }, "Way"), way),
      message,
      grid,
      h(
        "p",
        { class: "about" },
        "A packet of the kind on the left waits so long, in the mean over the whole run, while packets of the kind above are sent. The bar in a cell is its share of the largest wait of all.",
      ),
    ),
    update() {
      if (!seen) return;
      const next = [...app.insides.map(({ outcome }) => outcome), way.value, app.state.columns.map(labelOf).join()];
      grid.classList.toggle("old", app.insides.some(isOld));
      const errors = app.insides.flatMap(({ error }) => error ?? []);
      const some = app.insides.some(({ outcome }) => told(outcome));
      setText(message, errors[0] ?? (app.info === null || some ? "" : "Who waits for whom is on its way."));
      message.hidden = message.textContent === "";
      if (next.length === key.length && next.every((value, at) => value === key[at])) return;
      key = next;
      build();
    },
    visible(next) {
      seen = next;
    },
  };
}

function matrix(title: string, names: string[], { packets, seconds, other_s: other }: Waits, most: number): HTMLElement {
  // A kind without packets has no row, and one for which nobody waits no column.
  const victims = names.flatMap((kind, place) => ((packets[place] ?? 0) > 0 ? [{ kind, place }] : []));
  const causes = names.flatMap((kind, place) => (seconds.some((row) => (row[place] ?? 0) > 0) ? [{ kind, place }] : []));
  const rows = victims.map(({ kind, place }) => {
    const row = seconds[place] ?? [];
    const sum = row.reduce((a, b) => a + b, other[place] ?? 0);
    return h("tr", {}, h("th", { scope: "row" }, kind), ...causes.map(({ place: cause }) => shaded(row[cause] ?? 0, most)), h("td", { class: "number" }, shown(other[place] ?? 0)), h("td", { class: "number sum" }, shown(sum)));
  });
  const heads = ["waits for", ...causes.map(({ kind }) => kind), "other", "all"];
  const table = h(
    "table",
    { class: "matrix" },
    h("caption", { class: "unseen" }, `Mean wait of a packet under ${title}: rows wait while columns are sent`),
    h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, ...rows),
  );
  return h(
    "section",
    { class: "plot" },
    h("h3", {}, title),
    victims.length === 0 ? h("p", {}, "No packet came this way.") : h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Who waits for whom under ${title}` }, table),
  );
}

function shown(seconds: number): string {
  return seconds < 5e-6 ? "0" : duration(seconds);
}

function shaded(seconds: number, most: number): HTMLElement {
  const cell = h("td", { class: "number" }, shown(seconds));
  cell.style.backgroundSize = `${Math.round((seconds / most) * 100)}% 100%`;
  return cell;
}
