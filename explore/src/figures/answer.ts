/** The sentence on top: the recommendation of the engine, whose rule the commands have too, or figures where there is none. */

import type { Outcome, Recommendation } from "../engine/types";
import { shown, type Metric } from "./metrics";

export interface Column {
  label: string;
  outcome: Outcome;
}

function list(parts: string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1) ?? ""}`;
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Of a preset the page runs a discipline at the link; the command puts it at a router, where a burst has waited at the provider first. */
const AT_THE_LINK = "Figures are of the discipline at the link itself. In a router behind a modem the command gives less: mayfly whatif says how much.";

/** `told` is what the rule says of these columns; undefined until the engine has answered. One column is its figures. */
export function answer(columns: Column[], told: Recommendation | null | undefined, metrics: Metric[]): string {
  const [first, ...others] = columns;
  if (first === undefined) return "";
  if (others.length === 0) {
    const figures = metrics.flatMap((metric) => {
      const value = metric.value(first.outcome);
      return value === null ? [] : [`${metric.phrase ?? metric.title} ${shown(metric, value)}`];
    });
    return `${upperFirst(first.label)}: ${list(figures)}. Add a discipline to compare.`;
  }
  if (told === undefined) return "";
  if (told === null) return "Nothing is recommended: that takes two disciplines that can be switched on, and transfers, pings, pages or calls.";
  const atTheLink = told.at_the_link !== "" || told.load === null ? told.at_the_link : AT_THE_LINK;
  return [told.sentence, atTheLink, told.doubt].filter((part) => part !== "").join(" ");
}
