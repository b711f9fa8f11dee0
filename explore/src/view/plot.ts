/** uPlot with the colours, axes and fonts of the page. */

import uPlot from "uplot";
import { pageColour } from "./canvas";

export interface AxisOptions {
  label: string;
  format: (value: number) => string;
  /** Least pixels between ticks. */
  space?: number;
  size?: number;
}

export function axis({ label, format, space, size }: AxisOptions): uPlot.Axis {
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
    ...(space === undefined ? {} : { space }),
    ...(size === undefined ? {} : { size }),
    values: (_, splits) => (splits as (number | null)[]).map((value) => (value === null ? "" : format(value))),
  };
}

/** Powers of ten alone get a label on a logarithmic axis. */
export function decadesOnly(format: (value: number) => string): (value: number) => string {
  return (value) => (value > 0 && Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9 ? format(value) : "");
}

/** What a drawing hook needs: device pixels, and the ratio to those of the style sheet. */
export function scaled(plot: uPlot): number {
  return plot.ctx.canvas.width / Math.max(1, plot.width);
}

export { uPlot };
