/** The language to answer in. */
export type Language = 'en' | 'zh'

export function languageOf(text: string): Language {
  return /\p{Script=Han}/u.test(text) ? 'zh' : 'en'
}

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

/** `maxPrice` becomes `max price`. */
export function humanize(name: string): string {
  return name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
    .toLowerCase()
}

/** `a, b and c` */
export function enumerate(parts: readonly string[], language: Language): string {
  if (language === 'zh') return parts.join('、')
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`
}
