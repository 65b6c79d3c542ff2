/** The first place at or behind `index` where text can be cut without parting a surrogate pair. */
export function wholeIndex(text: string, index: number): number {
  const isInsidePair = index > 0 && (text.codePointAt(index - 1) ?? 0) > 0xffff
  return isInsidePair ? index + 1 : index
}

/** Like `text.slice`, for offsets that are not negative, except that no character is cut in half. */
export function sliceWhole(text: string, start: number, end = text.length): string {
  return text.slice(wholeIndex(text, start), wholeIndex(text, end))
}
