export interface PageOptions {
  /** How many results are passed over. */
  readonly offset: number
  readonly limit: number
  readonly maxChars: number
}

export interface Page {
  readonly lines: readonly string[]
  /** Where the next page begins. Undefined when this is the last. */
  readonly next: number | undefined
}

/** Takes a part of a list, and no more from its source than that takes. */
export async function takePage(
  source: AsyncIterable<string> | Iterable<string>,
  { offset, limit, maxChars }: PageOptions,
): Promise<Page> {
  const lines: string[] = []
  let position = 0
  let chars = 0
  for await (const line of source) {
    if (position++ < offset) continue
    chars += line.length + 1
    if (lines.length === limit || (chars > maxChars && lines.length > 0))
      return { lines, next: offset + lines.length }
    lines.push(line)
  }
  return { lines, next: undefined }
}

/** A page as a model reads it. `nothing` stands for one that is empty. */
export function showPage({ lines, next }: Page, nothing: string): string {
  if (lines.length === 0) return nothing
  if (next === undefined) return lines.join('\n')
  return [...lines, `[There are more. Go on with offset ${next}.]`].join('\n')
}
