/** The quantile of some values; `share` is from 0 to 1. NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Microseconds of a clock that all processes of the machine share. */
export function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1000n)
}
