/** The words of a text in lower case. Names in camelCase and snake_case are taken apart; plurals lose their `s`. */
export function wordsOf(text: string): string[] {
  const spaced = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase()
  return (spaced.match(/\p{L}+/gu) ?? []).map((word) =>
    /[^s]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word,
  )
}

/** A name in code as people say it: `maxPrice` is `max price`. */
export function spoken(name: string): string {
  return name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
    .toLowerCase()
}

/** The words of a list that is written with spaces and line breaks. */
export function wordList(text: string): string[] {
  return text.trim().split(/\s+/)
}

/** What the demo model begins with when it tells results. */
export const finding = 'Here is what I found: '
