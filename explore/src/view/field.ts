/** A quantity: a slider with steps, and the exact value as text beside it. */

import type { Parsed } from "../state/units";
import { h, setText, uniqueId } from "./dom";

export interface Field<T> {
  root: HTMLElement;
  show(value: T | null): void;
  disable(disabled: boolean): void;
  /** For another scale, such as of a buffer in time. */
  rescale(steps: readonly T[]): void;
}

export interface FieldOptions<T> {
  label: string;
  steps: readonly T[];
  /** Of the steps and a value: the place of the nearest. */
  place(steps: readonly T[], value: T): number;
  parse(text: string): Parsed<T>;
  /** As in the text field. */
  text(value: T): string;
  /** As it is read out. */
  spoken(value: T): string;
  changed(value: T): void;
  hint?: string;
}

export function field<T>(options: FieldOptions<T>): Field<T> {
  const id = uniqueId("field");
  let steps = options.steps;
  let shown: T | null = null;
  let written = "";
  const slider = h("input", {
    type: "range",
    id: `${id}-slider`,
    min: 0,
    max: steps.length - 1,
    step: 1,
    "aria-label": options.label,
    oninput: () => {
      const value = steps[Number(slider.value)];
      if (value !== undefined) options.changed(value);
    },
  });
  const problem = h("p", { class: "problem", id: `${id}-problem`, hidden: true });
  const input = h("input", {
    type: "text",
    id,
    class: "exact",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": `${id}-problem`,
    onchange: () => {
      const parsed = options.parse(input.value);
      if ("problem" in parsed) {
        tell(parsed.problem);
        return;
      }
      tell(null);
      options.changed(parsed.value);
      written = options.text(parsed.value);
      input.value = written;
    },
    onkeydown: (event: KeyboardEvent) => {
      if (event.key === "Escape" && shown !== null) {
        tell(null);
        input.value = options.text(shown);
      }
    },
  });

  function tell(text: string | null): void {
    problem.hidden = text === null;
    setText(problem, text ?? "");
    if (text === null) input.removeAttribute("aria-invalid");
    else input.setAttribute("aria-invalid", "true");
  }

  const root = h(
    "div",
    { class: "field" },
    h("label", { for: id }, options.label, options.hint ? h("span", { class: "hint" }, ` ${options.hint}`) : null),
    input,
    slider,
    problem,
  );

  return {
    root,
    show(value) {
      shown = value;
      if (value === null) {
        written = "";
        input.value = "";
        input.placeholder = "not known";
        slider.setAttribute("aria-valuetext", "not known");
        tell(null);
        return;
      }
      slider.value = String(options.place(steps, value));
      slider.setAttribute("aria-valuetext", options.spoken(value));
      // Not below somebody who types: only another value takes the place of the text.
      const text = options.text(value);
      if (text === written) return;
      written = text;
      input.value = text;
      tell(null);
    },
    disable(disabled) {
      slider.disabled = disabled;
      input.disabled = disabled;
    },
    rescale(next) {
      steps = next;
      slider.max = String(next.length - 1);
    },
  };
}
