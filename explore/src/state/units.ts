/** Rates, times and buffers as users write them, by the rules of `python/mayfly/text/quantity.py`, and as the page shows them. */

export type Parsed<T> = { value: T } | { problem: string };

/** A limit of the queue: packets, bytes, or the time that the link takes to send it. */
export type Limit = { packets: number } | { bytes: number } | { ms: number };

const NUMBER = /^\s*((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([a-z/]*)\s*$/i;
const PREFIX: Record<string, number> = { "": 1, k: 1e3, m: 1e6, g: 1e9 };
const TIMES: Record<string, number> = { s: 1, ms: 1e-3, us: 1e-6, "µs": 1e-6, ns: 1e-9, min: 60 };
const BYTES: Record<string, number> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20 };

export const RATE_BPS = { least: 1e3, most: 400e9 };
export const RTT_S = { least: 1e-4, most: 10 };

function split(text: string): [number, string] | null {
  const found = NUMBER.exec(text.replace("µ", "u"));
  if (found === null) return null;
  const number = Number(found[1]);
  return Number.isFinite(number) ? [number, (found[2] ?? "").toLowerCase()] : null;
}

/** `10mbit`, `2.5 Mbit/s`, `10M`, `10Mbps`: bit/s. A capital B stands for bytes and is refused, as in the command line. */
export function parseRate(text: string): Parsed<number> {
  const problem = "Write a rate from 1kbit to 400gbit, such as 10mbit.";
  const inBytes = /^\s*([\d.]+)\s*([kmg]?)(?:B\/s|B|Bps)\s*$/i.exec(text);
  if (inBytes !== null && /B/.test(text)) {
    return { problem: `Rates are in bits, and B stands for bytes: write ${trim(8 * Number(inBytes[1]))}${(inBytes[2] ?? "").toLowerCase()}bit.` };
  }
  const parts = split(text);
  if (parts === null) return { problem };
  const unit = /^([kmg]?)(?:bit\/s|bit|bps|b\/s|)$/.exec(parts[1]);
  const factor = unit === null ? undefined : PREFIX[unit[1] ?? ""];
  if (factor === undefined) return { problem };
  const value = Math.round(parts[0] * factor);
  return value >= RATE_BPS.least && value <= RATE_BPS.most ? { value } : { problem };
}

/** `20ms`, `0.02s`, `200us`: seconds. A number alone is milliseconds, which the field says beside it. */
export function parseRtt(text: string): Parsed<number> {
  const problem = "Write a time from 100us to 10s, such as 20ms.";
  const parts = split(text);
  const factor = parts === null ? undefined : parts[1] === "" ? 1e-3 : TIMES[parts[1]];
  if (parts === null || factor === undefined) return { problem };
  const value = tidy(parts[0] * factor);
  return value >= RTT_S.least && value <= RTT_S.most ? { value } : { problem };
}

/** `300`, `300 packets`, `450kB`, `20ms`. */
export function parseLimit(text: string): Parsed<Limit> {
  const problem = "Write a whole number of packets such as 300, bytes such as 450kB, or a time such as 20ms.";
  const parts = split(text);
  if (parts === null) return { problem };
  const [number, unit] = parts;
  if (["", "p", "packet", "packets"].includes(unit)) {
    return Number.isInteger(number) && number >= 1 && number <= 1e7 ? { value: { packets: number } } : { problem };
  }
  const bytes = BYTES[unit];
  if (bytes !== undefined) {
    const value = Math.round(number * bytes);
    return value >= 1 && value <= 1e11 ? { value: { bytes: value } } : { problem };
  }
  const time = TIMES[unit];
  if (time === undefined) return { problem };
  const ms = tidy(number * time * 1e3);
  return ms > 0 && ms <= 1e6 ? { value: { ms } } : { problem };
}

/** What the engine takes: a time is the bytes that the link sends in it. */
export function bufferOf(limit: Limit, rateBps: number): { packets: number } | { bytes: number } {
  return "ms" in limit ? { bytes: Math.max(1, Math.round((limit.ms * rateBps) / 8e3)) } : limit;
}

/** An option as the engine takes it: `10ms` in seconds, `15kB` in bytes, `2mbit` in bit/s; all else as it is. */
export function plainOption(text: string): string {
  const parts = split(text);
  if (parts === null || parts[1] === "") return text;
  const [number, unit] = parts;
  const rate = /^([kmg]?)(?:bit\/s|bit|bps)$/.exec(unit);
  const factor = TIMES[unit] ?? BYTES[unit] ?? (rate === null ? undefined : PREFIX[rate[1] ?? ""]);
  return factor === undefined ? text : String(tidy(number * factor));
}

function tidy(value: number): number {
  return Number(value.toPrecision(12));
}

function trim(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** As `tc` and `--rate` take it. */
export function rateText(bps: number): string {
  for (const [factor, unit] of [[1e9, "gbit"], [1e6, "mbit"], [1e3, "kbit"]] as const) {
    const number = bps / factor;
    if (number >= 1 && Number(number.toPrecision(6)) * factor === bps) return `${Number(number.toPrecision(6))}${unit}`;
  }
  return `${bps}bit`;
}

/** The same in whole numbers, as Mayfly itself writes commands: 9500kbit. */
export function rateWords(bps: number): string {
  for (const [factor, unit] of [[1e9, "gbit"], [1e6, "mbit"], [1e3, "kbit"]] as const) {
    if (bps % factor === 0) return `${bps / factor}${unit}`;
  }
  return `${bps}bit`;
}

export function rttText(seconds: number): string {
  const us = tidy(seconds * 1e6);
  if (us % 1e6 === 0) return `${us / 1e6}s`;
  return us >= 1e3 ? `${trim(us / 1e3)}ms` : `${trim(us)}us`;
}

/** As `--buffer` takes it. */
export function limitText(limit: Limit): string {
  if ("packets" in limit) return String(limit.packets);
  if ("ms" in limit) return `${trim(limit.ms)}ms`;
  const { bytes } = limit;
  if (bytes % 1e6 === 0) return `${bytes / 1e6}MB`;
  return bytes % 1e3 === 0 ? `${bytes / 1e3}kB` : `${bytes}B`;
}

/** For reading: 10 Mbit/s. */
export function rateShown(bps: number): string {
  for (const [factor, unit] of [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"]] as const) {
    if (bps >= factor) return `${three(bps / factor)} ${unit}`;
  }
  return `${three(bps)} bit/s`;
}

export function limitShown(limit: Limit): string {
  return "packets" in limit ? `${limit.packets} ${limit.packets === 1 ? "packet" : "packets"}` : limitText(limit).replace(/([a-zA-Z]+)$/, " $1");
}

/** Three significant digits, no exponent. */
export function three(value: number): string {
  if (value === 0) return "0";
  if (Math.abs(value) >= 999.5) return Math.round(value).toLocaleString("en-US");
  const text = value.toPrecision(3);
  return text.includes("e") ? String(Number(text)) : text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** A duration with its unit: 13.3 ms, 2.52 s. */
export function duration(seconds: number): string {
  const size = Math.abs(seconds);
  if (size === 0) return "0 ms";
  if (size < 1e-3) return `${three(seconds * 1e6)} µs`;
  if (size < 0.9995) return `${three(seconds * 1e3)} ms`;
  if (size < 120) return `${three(seconds)} s`;
  return `${three(seconds / 60)} min`;
}

export function bytesShown(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_500) return `${three(bytes / 1e3)} kB`;
  return bytes < 999_500_000 ? `${three(bytes / 1e6)} MB` : `${three(bytes / 1e9)} GB`;
}

export function percent(share: number): string {
  const value = share * 100;
  return `${Math.abs(value) >= 99.95 || value === 0 ? Math.round(value) : three(Number(value.toPrecision(2)))} %`;
}
