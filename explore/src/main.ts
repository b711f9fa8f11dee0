import "uplot/dist/uPlot.min.css";
import "./style.css";
import { start } from "./app";
import { fatal } from "./view/fatal";

const page = document.getElementById("page") as HTMLElement;

// What nobody caught becomes a sentence, never a blank page.
window.addEventListener("error", (event) => {
  // A browser's own remark on layout, no fault.
  if (event.message.includes("ResizeObserver")) return;
  fatal(page, event.error ?? event.message);
});
window.addEventListener("unhandledrejection", (event) => fatal(page, event.reason));

start(page).catch((caught: unknown) => fatal(page, caught));
