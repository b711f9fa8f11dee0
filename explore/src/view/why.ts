/** Which mechanism made the difference, in the engine's sentences, and what a model expects beside what the run gave. */

import type { App } from "../app";
import type { Outcome } from "../engine/types";
import { isOld } from "../run/runner";
import { labelOf } from "../state/state";
import { duration } from "../state/units";
import { h } from "./dom";
import type { View } from "./page";

/** Address of a page of the docs: `mechanisms#links-and-queues` lies beside the folder of this page on the site. */
export function docsAddress(page: string): string {
  const [path = "", part] = page.replace(/^docs\//, "").replace(/\.(md|html)$/, "").split("#");
  return `../${path}.html${part ? `#${part}` : ""}`;
}

/** Of the engine's models. */
const POLICIES: Record<string, string> = {
  ps: "equal shares (processor sharing)",
  las: "who has sent least goes first (LAS)",
  lfq: "lagged fair queueing",
};

export function why(app: App): View {
  const grid = h("div", { class: "plots" });
  let key: unknown[] = [];
  let seen = false;

  /** A local server has no docs beside the page: there the name of the page stands. */
  function more(page: string): HTMLElement {
    return app.engine.kind === "server" ? h("span", { class: "hint" }, ` docs: ${page}`) : h("a", { href: docsAddress(page) }, "More on this");
  }

  function section(label: string, outcome: Outcome | null): HTMLElement {
    const row = app.catalogue.disciplines.find(({ id }) => id === outcome?.discipline.id);
    const mechanisms = outcome?.mechanisms ?? [];
    return h(
      "section",
      { class: "plot" },
      h("h3", {}, label),
      row ? h("p", {}, `${row.title}: ${row.summary}. `, more(row.page)) : null,
      outcome === null
        ? h("p", {}, "The figures are on their way.")
        : mechanisms.length === 0
          ? h("p", {}, "No counter of this run says more than the figures do.")
          : h("ul", { class: "mechanisms" }, ...mechanisms.map(({ sentence, page }) => h("li", {}, `${sentence} `, more(page)))),
      outcome?.model ? modelTable(outcome) : null,
    );
  }

  function modelTable({ model }: Outcome): HTMLElement | null {
    if (model === null) return null;
    const rows = ([["Short transfers", model.short], ["Long transfers", model.long]] as const).flatMap(([title, beside]) =>
      beside === null
        ? []
        : ([[`${title}, half are faster`, beside.model_p50_s, beside.run_p50_s], [`${title}, 95 of 100 are faster`, beside.model_p95_s, beside.run_p95_s]] as const),
    );
    const text = (value: number | null): string => (value === null ? "–" : duration(value));
    return h(
      "div",
      { class: "model" },
      h("h4", {}, `What a model expects: ${POLICIES[model.policy] ?? model.policy}`),
      h(
        "p",
        {},
        `A server of the rate of the link is given the transfers that go ${model.direction}, without packets; round trips of slow start are added. Losses, timeouts and the wait in a buffer are not in it: what the run has beyond the model is theirs. `,
        more(model.page),
      ),
      rows.length === 0
        ? h("p", {}, "No transfer ended in both.")
        : h(
            "table",
            {},
            h("thead", {}, h("tr", {}, ...["What", "Model", "This run"].map((title, at) => h("th", { scope: "col" }, at === 0 ? h("span", { class: "unseen" }, title) : title)))),
            h("tbody", {}, ...rows.map(([title, expected, got]) => h("tr", {}, h("th", { scope: "row" }, title), h("td", { class: "number" }, text(expected)), h("td", { class: "number" }, text(got))))),
          ),
    );
  }

  return {
    root: grid,
    update() {
      if (!seen) return;
      grid.classList.toggle("old", app.slots.some(isOld));
      const next = [...app.slots.map(({ outcome }) => outcome), app.state.columns.map(labelOf).join()];
      if (next.length === key.length && next.every((value, at) => value === key[at])) return;
      key = next;
      grid.replaceChildren(...app.state.columns.map((column, at) => section(labelOf(column), app.slots[at]?.outcome ?? null)));
    },
    visible(next) {
      seen = next;
    },
  };
}
