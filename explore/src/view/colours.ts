/** Colours of kinds and disciplines, one set for light and one for dark. Every set is held to contrast in `tests/unit/colours.test.ts`. */

/** Okabe and Ito's colours for people who see fewer, darkened or lightened to 3:1 against the ground. */
const KINDS: Record<string, { light: string; dark: string }> = {
  short: { light: "#0072b2", dark: "#56b4e9" },
  long: { light: "#b35000", dark: "#f0913f" },
  page: { light: "#00795a", dark: "#2fc79b" },
  call: { light: "#a83f80", dark: "#e39ac5" },
  ping: { light: "#6f6400", dark: "#e8d93a" },
  attacker: { light: "#c0182a", dark: "#ff7a80" },
  film: { light: "#5b4bb5", dark: "#a99cf2" },
  game: { light: "#5b4bb5", dark: "#a99cf2" },
};
const OTHERS = [
  { light: "#5f6670", dark: "#a8b0ba" },
  { light: "#5b4bb5", dark: "#a99cf2" },
  { light: "#7a4a2b", dark: "#d0a27e" },
];

export const GROUNDS = { light: "#ffffff", dark: "#15181c" };

/** Lines of the disciplines, by column. */
const COLUMNS = [
  { light: "#5f6670", dark: "#a8b0ba" },
  { light: "#0072b2", dark: "#56b4e9" },
  { light: "#b35000", dark: "#f0913f" },
  { light: "#00795a", dark: "#2fc79b" },
  { light: "#a83f80", dark: "#e39ac5" },
  { light: "#6f6400", dark: "#e8d93a" },
];

export type Theme = "light" | "dark";

export function kindColour(kind: string, theme: Theme): string {
  const known = KINDS[kind];
  if (known) return known[theme];
  let sum = 0;
  for (const letter of kind) sum = (sum * 31 + letter.charCodeAt(0)) % 1009;
  return (OTHERS[sum % OTHERS.length] as { light: string; dark: string })[theme];
}

export function columnColour(column: number, theme: Theme): string {
  return (COLUMNS[column % COLUMNS.length] as { light: string; dark: string })[theme];
}

/** Dashes beside colours: lines are told apart without them. */
export function columnDash(column: number): number[] {
  return [[], [], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3]][column % 6] ?? [];
}

/** A colour per flow that is the same in every column: hues by the golden angle. */
export function flowColour(flow: number, theme: Theme): string {
  const hue = Math.round((flow * 137.508) % 360);
  return theme === "light" ? `hsl(${hue} 65% 38%)` : `hsl(${hue} 65% 66%)`;
}

export const ALL_COLOURS = [...Object.values(KINDS), ...OTHERS, ...COLUMNS];

/** Contrast of two sRGB colours by WCAG 2.2. */
export function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
