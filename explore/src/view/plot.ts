/** uPlot with the colours, axes and fonts of the page. */

import uPlot from "uplot";
import { pageColour } from "./canvas";

export interface AxisOptions {
  label: string;
  format: (value: number) => string;
  /** Room for the numbers, pixels. */
  size: number;
  /** Where lines and numbers are, instead of where uPlot puts them. */
  splits?: number[];
}

export function axis({ label, format, size, splits }: AxisOptions): uPlot.Axis {
  const muted = pageColour("--muted");
  const line = pageColour("--line");
  return {
    label,
    labelSize: 18,
    labelFont: "12px system-ui, sans-serif",
    font: "11px system-ui, sans-serif",
    stroke: muted,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
    size,
    ...(splits === undefined ? {} : { splits: () => splits }),
    values: (_, marks) => (marks as (number | null)[]).map((value) => (value === null ? "" : format(value))),
  };
}

/** The powers of ten of a range. */
export function decades([from, to]: [number, number]): number[] {
  const first = Math.round(Math.log10(from));
  return Array.from({ length: Math.round(Math.log10(to)) - first + 1 }, (_, step) => Number(`1e${first + step}`));
}

/** Below an axis of time or size. */
export const FOOT_PX = 30;

/** What a drawing hook needs: device pixels, and the ratio to those of the style sheet. */
export function scaled(plot: uPlot): number {
  return plot.ctx.canvas.width / Math.max(1, plot.width);
}

export { uPlot };
