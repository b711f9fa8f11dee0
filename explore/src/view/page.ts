/** Where things stand: controls on one side, on the other the answer, the figures, and what is behind them. */

import type { App } from "../app";
import { TABS, type Tab } from "../state/state";
import { controls } from "./controls";
import { h, setText } from "./dom";
import { figures } from "./figures";
import { length } from "./length";
import { life } from "./life";
import { queue } from "./queue";
import { response } from "./response";
import { take } from "./take";
import { chooseTheme, themeChoice, type Choice } from "./theme";
import { waits } from "./waits";
import { why } from "./why";

export interface View {
  root: HTMLElement;
  update(): void;
  /** The view is seen, or no longer. */
  visible?(seen: boolean): void;
  /** Other colours or another width: drawn things are made anew. */
  redraw?(): void;
}

export interface Page {
  update(): void;
  redraw(): void;
}

const TITLES: Record<Tab, string> = {
  queue: "Queue in slow time",
  response: "Response times",
  length: "Queue over time",
  waits: "Who waits for whom",
  why: "Why",
  take: "Take it along",
};

/** How long a result must stand until it is read out. */
const QUIET_MS = 900;

export function layOut(app: App, root: HTMLElement): Page {
  const left = controls(app);
  const table = figures(app);
  const views: Record<Tab, View> = {
    queue: queue(app),
    response: response(app),
    length: length(app),
    waits: waits(app),
    why: why(app),
    take: take(app),
  };
  const dialog = life(app);

  const answer = h("p", { class: "answer", id: "answer" });
  const trouble = h("div", { class: "trouble", role: "alert", hidden: true });
  const problemList = h("ul");
  const problems = h("div", { class: "problems", role: "status", hidden: true }, problemList);
  const spoken = h("p", { class: "unseen", role: "status" });
  let speech: ReturnType<typeof setTimeout> | null = null;

  const buttons = TABS.map((tab) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${tab}`,
        "aria-controls": `panel-${tab}`,
        onclick: () => choose(tab),
        onkeydown: (event: KeyboardEvent) => move(event, tab),
      },
      TITLES[tab],
    ),
  );
  const panels = TABS.map((tab) =>
    h("div", { role: "tabpanel", id: `panel-${tab}`, "aria-labelledby": `tab-${tab}`, tabindex: 0, class: "panel", hidden: true }, views[tab].root),
  );

  function choose(tab: Tab): void {
    if (app.state.tab !== tab) app.change((state) => (state.tab = tab));
  }

  function move(event: KeyboardEvent, tab: Tab): void {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -TABS.length, End: TABS.length }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = TABS.indexOf(tab);
    const to = Math.abs(step) === 1 ? (at + step + TABS.length) % TABS.length : step < 0 ? 0 : TABS.length - 1;
    choose(TABS[to] as Tab);
    buttons[to]?.focus();
  }

  const themes: [Choice, string][] = [
    ["auto", "as the system"],
    ["light", "light"],
    ["dark", "dark"],
  ];
  const themeSelect = h(
    "select",
    {
      "aria-label": "Colours",
      onchange: () => {
        chooseTheme(themeSelect.value as Choice);
        app.redraw();
      },
    },
    ...themes.map(([value, title]) => h("option", { value, selected: themeChoice() === value }, `Colours: ${title}`)),
  );

  const where =
    app.engine.kind === "wasm" ? "The simulator runs in this page. A capture never leaves this machine." : "The simulator is mayfly explore on this machine.";

  root.replaceChildren(
    h("a", { class: "skip", href: "#answer", onclick: (event: Event) => skip(event) }, "Skip to the answer"),
    h(
      "header",
      {},
      h("h1", {}, h("span", { class: "mark" }, "Mayfly"), " explore"),
      h("p", { class: "where" }, where),
      themeSelect,
    ),
    h(
      "main",
      {},
      h("section", { class: "top", "aria-label": "Answer" }, answer, trouble, problems, spoken),
      h("section", { class: "controls", "aria-label": "Link and workload" }, left.root),
      h("section", { class: "figures", "aria-labelledby": "figures-title" }, table.root),
      h(
        "section",
        { class: "inside", "aria-label": "Look inside" },
        h("div", { role: "tablist", "aria-label": "Look inside", class: "tabs" }, ...buttons),
        ...panels,
      ),
    ),
    h(
      "footer",
      {},
      `Mayfly ${app.catalogue.version}. One run is one draw of the workload: differences of a few per cent are chance. Simulated hosts are ideal.`,
    ),
    dialog.root,
  );
  answer.tabIndex = -1;

  function skip(event: Event): void {
    // The part behind # is the state of the page.
    event.preventDefault();
    answer.focus();
  }

  let seen: Tab | null = null;

  function update(): void {
    const { tab } = app.state;
    TABS.forEach((name, place) => {
      const selected = name === tab;
      const button = buttons[place] as HTMLButtonElement;
      button.setAttribute("aria-selected", String(selected));
      button.tabIndex = selected ? 0 : -1;
      (panels[place] as HTMLElement).hidden = !selected;
    });
    if (seen !== tab) {
      if (seen !== null) views[seen].visible?.(false);
      seen = tab;
      views[tab].visible?.(true);
    }
    const text = app.answer();
    setText(answer, text || (app.trouble ? "" : app.loading || app.info !== null ? "The first figures are on their way." : ""));
    answer.hidden = answer.textContent === "";
    answer.classList.toggle("old", !app.settled());
    trouble.hidden = app.trouble === null;
    setText(trouble, app.trouble ?? "");
    problems.hidden = app.problems.length === 0;
    if (problemList.textContent !== app.problems.join("")) problemList.replaceChildren(...app.problems.map((line) => h("li", {}, line)));
    left.update();
    table.update();
    views[tab].update();
    dialog.update();
    if (speech !== null) clearTimeout(speech);
    // Read out once it stands, not at every step of a slider.
    if (app.settled() && text !== "" && spoken.textContent !== text) speech = setTimeout(() => setText(spoken, text), QUIET_MS);
  }

  // Widths of drawn things follow the page.
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(root.clientWidth - width) < 2) return;
    width = root.clientWidth;
    requestAnimationFrame(() => redraw());
  }).observe(root);

  function redraw(): void {
    for (const view of Object.values(views)) view.redraw?.();
    dialog.redraw?.();
    app.render();
  }

  return { update, redraw };
}
