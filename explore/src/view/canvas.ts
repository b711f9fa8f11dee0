/** A canvas as sharp as the screen, and the colours of the page. */

export interface Surface {
  canvas: HTMLCanvasElement;
  width: number;
  height: number;
  context: CanvasRenderingContext2D;
}

/** Fits the canvas to its place; null while it has none. */
export function surface(canvas: HTMLCanvasElement, height: number): Surface | null {
  const width = canvas.parentElement?.clientWidth ?? 0;
  const context = canvas.getContext("2d");
  if (width < 10 || context === null) return null;
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  const [w, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== tall) {
    canvas.width = w;
    canvas.height = tall;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { canvas, width, height, context };
}

/** A colour of the style sheet, such as `--text`. */
export function pageColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
