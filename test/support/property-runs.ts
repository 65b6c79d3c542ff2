/** How many runs a property test makes: few, or as many as `PROPERTY_RUNS` says. */
export function propertyRuns(usual: number): number {
  return Number(process.env.PROPERTY_RUNS ?? usual)
}
