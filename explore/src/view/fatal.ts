import { h } from "./dom";

/** Says that something went wrong, above what there is of the page. */
export function fatal(page: HTMLElement, caught: unknown): void {
  const text = caught instanceof Error ? caught.message : String(caught);
  const old = document.getElementById("fatal");
  const box = h(
    "div",
    { id: "fatal", role: "alert", class: "fatal" },
    h("p", {}, `Something went wrong here: ${text}`),
    h("p", {}, "What you see may be old. Load the page again; the address keeps what you set."),
    h("button", { type: "button", onclick: () => location.reload() }, "Load again"),
  );
  if (old) old.replaceWith(box);
  else page.prepend(box);
}
