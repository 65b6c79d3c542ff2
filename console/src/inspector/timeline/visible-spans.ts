import type { Lane, Span } from '../model/timeline.js'

/** A lane is about so many pixels wide. What is narrower than one cannot be told apart. */
const pixels = 1500
const maxSpans = 1500

/** The spans worth drawing: of those that would cover one another, the first. */
export function visibleSpans({ spans }: Lane, length: number): readonly Span[] {
  if (spans.length <= maxSpans) return spans
  const pixel = length / pixels
  const ends: number[] = []
  return spans.filter(({ row, from, to }) => {
    if (to < (ends[row] ?? -Infinity) + pixel) return false
    ends[row] = to
    return from <= to
  })
}
