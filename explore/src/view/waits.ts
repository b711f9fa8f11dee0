/** Who waits for whom: of each kind, how long a packet waits while packets of each other kind are sent. */

import type { App } from "../app";
import { isOld } from "../run/runner";
import { labelOf } from "../state/state";
import { duration } from "../state/units";
import { h, setText } from "./dom";
import type { View } from "./page";

export function waits(app: App): View {
  const grid = h("div", { class: "plots" });
  const message = h("p", { class: "about" });
  let key: unknown[] = [];
  let seen = false;

  function build(): void {
    const most = Math.max(1e-9, ...app.slots.flatMap(({ outcome }) => outcome?.waits?.seconds.flat() ?? []));
    grid.replaceChildren(
      ...app.state.columns.flatMap((column, at) => {
        const told = app.slots[at]?.outcome?.waits;
        if (!told) return [];
        const title = labelOf(column);
        // Kinds of which no packet came have neither row nor column.
        const used = told.kinds.map((_, kind) => told.seconds.some((row, victim) => (row[kind] ?? 0) > 0 || (victim === kind && row.some((value) => value > 0))));
        const kinds = told.kinds.flatMap((kind, place) => (used[place] ? [{ kind, place }] : []));
        return [
          h(
            "section",
            { class: "plot" },
            h("h3", {}, title),
            kinds.length === 0
              ? h("p", {}, "Nobody waits.")
              : h(
                  "div",
                  { class: "scroll", tabindex: 0, role: "region", "aria-label": `Who waits for whom under ${title}` },
                  h(
                    "table",
                    { class: "matrix" },
                    h("caption", { class: "unseen" }, `Mean wait of a packet under ${title}: rows wait while columns are sent`),
                    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "waits for"), ...kinds.map(({ kind }) => h("th", { scope: "col" }, kind)), h("th", { scope: "col" }, "all"))),
                    h(
                      "tbody",
                      {},
                      ...kinds.map(({ kind, place }) => {
                        const row = told.seconds[place] ?? [];
                        const sum = row.reduce((a, b) => a + b, 0);
                        return h("tr", {}, h("th", { scope: "row" }, kind), ...kinds.map(({ place: cause }) => shaded(row[cause] ?? 0, most)), h("td", { class: "number sum" }, shown(sum)));
                      }),
                    ),
                  ),
                ),
          ),
        ];
      }),
    );
  }

  return {
    root: h("div", {}, message, grid, h("p", { class: "about" }, "A packet of the kind on the left waits so long, in the mean, while packets of the kind above are sent. The bar in a cell is its share of the largest wait of all.")),
    update() {
      if (!seen) return;
      const next = [...app.slots.map(({ outcome }) => outcome), app.state.columns.map(labelOf).join()];
      grid.classList.toggle("old", app.slots.some(isOld));
      const some = app.slots.some(({ outcome }) => outcome?.waits);
      setText(message, app.info === null ? "" : some ? "" : app.slots.some(({ outcome }) => outcome) ? "This engine does not tell who waits for whom." : "The figures are on their way.");
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

function shown(seconds: number): string {
  return seconds < 5e-6 ? "0" : duration(seconds);
}

function shaded(seconds: number, most: number): HTMLElement {
  const cell = h("td", { class: "number" }, shown(seconds));
  cell.style.backgroundSize = `${Math.round((seconds / most) * 100)}% 100%`;
  return cell;
}
