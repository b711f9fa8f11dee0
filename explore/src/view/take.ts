/** Take it along: an address, lines to copy, files. */

import type { App } from "../app";
import { takeAlong, type Line } from "../take/commands";
import { figuresCsv, queueCsv, transfersCsv, waitsCsv } from "../take/csv";
import { copy, savePng, saveText } from "../take/download";
import { drawing, type Drawing } from "../take/svg";
import { linkShown } from "../state/state";
import { limitShown, rateShown, rttText } from "../state/units";
import { h, setText } from "./dom";
import type { View } from "./page";

export function take(app: App): View {
  const lines = h("div", { class: "lines" });
  const told = h("p", { role: "status", class: "about" });
  const files = h("div", { class: "bar" });
  const drawings: [Drawing, string][] = [
    ["figures", "Figures"],
    ["response", "Response times"],
    ["queue", "Queue over time"],
  ];
  const tables: [string, string, () => string][] = [
    ["figures", "Figures", () => figuresCsv(app.columnsWithOutcome(), app.metrics)],
    ["transfers", "Transfers", () => transfersCsv(app.columnsWithOutcome())],
    ["queue", "Queue", () => queueCsv(app.columnsWithOutcome())],
    ["waits", "Waits", () => waitsCsv(app.columnsWithPackets())],
  ];
  files.append(
    ...drawings.flatMap(([kind, title]) => [
      h("button", { type: "button", class: "quiet", onclick: () => saved(() => saveText(`mayfly-${kind}.svg`, drawn(kind), "image/svg+xml")) }, `${title} (SVG)`),
      h("button", { type: "button", class: "quiet", onclick: () => saved(() => savePng(`mayfly-${kind}.png`, drawn(kind))) }, `${title} (PNG)`),
    ]),
    ...tables.map(([name, title, make]) => h("button", { type: "button", class: "quiet", onclick: () => saved(() => saveText(`mayfly-${name}.csv`, make(), "text/csv")) }, `${title} (CSV)`)),
  );
  let key = "";
  let seen = false;

  function drawn(kind: Drawing): string {
    return drawing(kind, app.columnsWithOutcome(), title(), app.metrics);
  }

  function title(): string {
    if (app.info === null) return app.state.workload;
    const shown = linkShown(app.state, app.info);
    const rtt = shown.rtt_s ?? app.info.rtt_median_s;
    return [app.state.workload, rateShown(shown.rate_bps), limitShown(shown.limit), ...(rtt === null ? [] : [rttText(rtt)])].join(", ");
  }

  function saved(make: () => void | Promise<void>): void {
    Promise.resolve()
      .then(make)
      .then(
        () => setText(told, "Saved where this browser puts files."),
        (caught: unknown) => setText(told, `It could not be saved: ${caught instanceof Error ? caught.message : String(caught)}.`),
      );
  }

  async function copied(text: string, title: string, field: HTMLElement): Promise<void> {
    if (await copy(text)) {
      setText(told, `${title}: copied.`);
      return;
    }
    const range = document.createRange();
    range.selectNodeContents(field);
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
    setText(told, `${title}: this page has no clipboard here. It is selected: copy it by the keyboard.`);
  }

  function row(line: Pick<Line, "id" | "title" | "text" | "note" | "file">): HTMLElement {
    const code = h("code", {}, line.text.trimEnd());
    const text = h("pre", { id: `take-${line.id}`, tabindex: 0, role: "region", "aria-label": line.title }, code);
    return h(
      "section",
      { class: "line" },
      h(
        "div",
        { class: "bar" },
        h("h3", {}, line.title),
        line.text === "" ? null : h("button", { type: "button", class: "quiet", "aria-label": `Copy: ${line.title}`, onclick: () => void copied(line.text.trimEnd(), line.title, code) }, "Copy"),
        line.file === null ? null : h("button", { type: "button", class: "quiet", onclick: () => saved(() => saveText(line.file ?? "", line.text, "text/plain")) }, `Save as ${line.file}`),
      ),
      line.text === "" ? null : text,
      line.note === null ? null : h("p", { class: "about" }, line.note),
    );
  }

  return {
    root: h("div", {}, told, h("h3", {}, "Figures and data"), files, lines),
    update() {
      if (!seen) return;
      app.flushAddress();
      const address: Line = {
        id: "address",
        title: "Address of this state",
        text: location.href,
        note: addressNote(app.state.kind === "capture"),
        file: null,
      };
      const all = app.info === null ? [address] : [address, ...takeAlong(app.state, app.info, app.catalogue, app.loadLines())];
      for (const button of files.querySelectorAll("button")) button.disabled = app.columnsWithOutcome().length === 0;
      const next = JSON.stringify(all);
      if (next === key) return;
      key = next;
      lines.replaceChildren(...all.map(row));
    },
    visible(next) {
      seen = next;
      setText(told, "");
    },
  };
}

/** What an address does not do: that of a server on this machine ends with the server. */
function addressNote(capture: boolean): string | null {
  const here = ["127.0.0.1", "[::1]", "localhost"].includes(location.hostname);
  const notes = [
    here ? "It works on this machine while mayfly explore runs. To pass the state on, copy the command line." : null,
    capture ? "It names the capture and does not hold it: drop the file on the page again." : null,
  ].filter((note) => note !== null);
  return notes.length > 0 ? notes.join(" ") : null;
}
