/** Instructions with more behind them, a line apart. */
export function addInstructions(instructions: string | undefined, more: string): string {
  return [instructions, more].filter(Boolean).join('\n\n')
}
