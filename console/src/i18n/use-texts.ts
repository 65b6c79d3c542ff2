import { createSetting } from '../settings.js'
import { en, type Texts } from './en.js'
import { zh } from './zh.js'

const languages = { en, zh } as const
export type Language = keyof typeof languages

const fromBrowser: Language = navigator.languages.some((name) => /^zh\b/i.test(name)) ? 'zh' : 'en'

export const language = createSetting<Language>('language', ['en', 'zh'], fromBrowser)

/** The words of the console in the language that the person has chosen. */
export function useTexts(): Texts {
  return languages[language.use()]
}
