/** The words of a text in lower case. Splits camelCase and snake_case; plurals lose their `s`. */
export function wordsOf(text: string): string[] {
  const spaced = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase()
  return (spaced.match(/\p{L}+/gu) ?? []).map((word) =>
    /[^s]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word,
  )
}

/** Splits a list that is written with spaces and line breaks. */
export function wordList(text: string): string[] {
  return text.trim().split(/\s+/)
}
