/** Like `text.slice` for offsets of at least 0, but never splits a surrogate pair. */
export function sliceWhole(text: string, start: number, end = text.length): string {
  return text.slice(wholeIndex(text, start), wholeIndex(text, end))
}

/** The first index from `index` on that does not split a surrogate pair. */
export function wholeIndex(text: string, index: number): number {
  const isInsidePair = index > 0 && (text.codePointAt(index - 1) ?? 0) > 0xffff
  return isInsidePair ? index + 1 : index
}
