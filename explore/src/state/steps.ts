/** Where sliders stop: steps that look alike everywhere on a logarithmic scale. */

const MANTISSAS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];

function decades(from: number, to: number, mantissas: number[], whole = false): number[] {
  const steps: number[] = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power += 1) {
    for (const mantissa of mantissas) {
      const value = Number((mantissa * 10 ** power).toPrecision(6));
      if (value >= from && value <= to && (!whole || Number.isInteger(value))) steps.push(value);
    }
  }
  return steps;
}

/** 250 kbit/s to 10 Gbit/s. */
export const RATE_STEPS = decades(250e3, 10e9, MANTISSAS);
export const PACKET_STEPS = decades(2, 10_000, MANTISSAS, true);
export const MS_STEPS = decades(1, 3000, MANTISSAS);
/** 1 ms to 1 s. */
export const RTT_STEPS = decades(1e-3, 1, MANTISSAS);
export const ATTACK_RATE_STEPS = decades(100e3, 10e9, MANTISSAS);
export const CONNECTION_STEPS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

/** The step nearest to a value, by ratio. */
export function nearestStep(steps: readonly number[], value: number): number {
  let best = 0;
  let least = Infinity;
  steps.forEach((step, place) => {
    const away = Math.abs(Math.log(step / value));
    if (away < least) [best, least] = [place, away];
  });
  return best;
}
