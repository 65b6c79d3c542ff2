/** The values of a call's arguments in a few words, for a card that is folded. */
export function summaryOf(args: string): string {
  try {
    const value: unknown = JSON.parse(args)
    if (typeof value !== 'object' || value === null) return args
    return Object.values(value)
      .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
      .join(', ')
      .slice(0, 200)
  } catch {
    // It is still being written.
    return args.slice(0, 200)
  }
}
