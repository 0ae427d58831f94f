/** Round amounts from 0 to at least `max`, a few of them. */
export function ticksTo(max: number, wanted = 4): number[] {
  const rough = Math.max(max, 1e-9) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
  return multiples(step, max);
}

/** The same for what can only be counted. */
export function countTicks(max: number, wanted = 4): number[] {
  return max <= wanted ? multiples(1, Math.max(1, max)) : ticksTo(max, wanted);
}

const seconds = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800,
];

/** The step between moments that a person calls round, in milliseconds. */
export function timeStep(ms: number, wanted: number): number {
  return (seconds.find((step) => ms / (step * 1000) <= wanted) ?? 86_400) * 1000;
}

/** The same for times. */
export function timeTicks(max: number, wanted = 4): number[] {
  return multiples(timeStep(max, wanted), max);
}

function multiples(step: number, max: number): number[] {
  return Array.from({ length: Math.ceil(max / step - 1e-6) + 1 }, (_, index) => index * step);
}
