import { contentHasMedia, contentToText } from '@ag-ui/core'
import { isRecord, parseJson } from '../../core/json.js'
import type { NamedToolResult } from './latest-exchange.js'
import { enumerate, humanize, type Language } from './words.js'

/** Says what a tool has returned, as a person would: in whole sentences. */
export function describeResult({ content, error }: NamedToolResult['message'], language: Language): string {
  const text = contentToText(content)
  const say = phrases[language]
  if (error !== undefined) return say.failed(truncate(text || error))
  if (text === '') return contentHasMedia(content) ? say.media : say.done
  return truncate(toSentence(parseJson(text) ?? text, language))
}

const maxResultLength = 400

function truncate(text: string): string {
  return text.length <= maxResultLength ? text : `${text.slice(0, maxResultLength).trimEnd()} …`
}

/** The rules for objects: the first that has a sentence counts. */
const rules = [describeWeather, describePrice, describeList, describeMembers]

function toSentence(value: unknown, language: Language): string {
  const say = phrases[language]
  if (isRecord(value)) {
    for (const rule of rules) {
      const sentence = rule(value, say)
      if (sentence !== undefined) return sentence
    }
    return say.done
  }
  if (Array.isArray(value)) return value.length === 0 ? say.nothing : say.found(say.list(value.map(toLabel)))
  return typeof value === 'string' ? value : say.answer(toPlainText(value))
}

type Phrases = (typeof phrases)[Language]

/** `{ city: 'Oslo', temperature: 7, sky: 'rain' }` */
function describeWeather(value: Record<string, unknown>, say: Phrases): string | undefined {
  const { temperature } = value
  if (typeof temperature !== 'number') return undefined
  const { city, place = city, location = place, sky, weather = sky, condition = weather } = value
  return say.weather({ degrees: temperature, sky: textOrNone(condition), city: textOrNone(location) })
}

/** `{ hotel: 'Grand Oslo', price: '€100' }` */
function describePrice(value: Record<string, unknown>, say: Phrases): string | undefined {
  const { cost, price = cost, ...others } = value
  const subject = Object.values(others).find((other) => typeof other === 'string')
  if (typeof subject !== 'string' || (typeof price !== 'string' && typeof price !== 'number'))
    return undefined
  return say.price(subject, String(price))
}

/** `{ shoppingList: ['Milk', 'Eggs'] }` */
function describeList(value: Record<string, unknown>, say: Phrases): string | undefined {
  const [[name, list] = [], ...others] = Object.entries(value)
  if (name === undefined || !Array.isArray(list) || others.length > 0) return undefined
  return list.length === 0
    ? say.emptyList(humanize(name))
    : say.has(humanize(name), say.list(list.map(toLabel)))
}

/** Members that only say that all went well are not worth a word. */
const success = new Set<unknown>([true, 'ok', 'success', 'done'])

function describeMembers(value: Record<string, unknown>, say: Phrases): string | undefined {
  const members = Object.entries(value).filter(
    ([key, entry]) => !(/^(ok|success|status)$/.test(key) && success.has(entry)),
  )
  if (members.length === 0) return undefined
  return say.members(members.map(([key, entry]) => [humanize(key), toPlainText(entry)] as const))
}

function toPlainText(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(toLabel).join(', ')
  if (isRecord(value))
    return Object.entries(value)
      .map(([key, entry]) => `${humanize(key)} ${toPlainText(entry)}`)
      .join(', ')
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : JSON.stringify(value)
}

/** What an entry of a list goes by. */
function toLabel(value: unknown): string {
  const { name, title = name } = isRecord(value) ? value : {}
  return typeof title === 'string' ? title : toPlainText(value)
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

interface Weather {
  readonly degrees: number
  readonly sky: string | undefined
  readonly city: string | undefined
}

const skies = new Map([
  ['rain', { en: 'raining', zh: '下雨' }],
  ['snow', { en: 'snowing', zh: '下雪' }],
  ['sun', { en: 'sunny', zh: '晴' }],
  ['clouds', { en: 'cloudy', zh: '多云' }],
  ['fog', { en: 'foggy', zh: '有雾' }],
  ['wind', { en: 'windy', zh: '有风' }],
])

const phrases = {
  en: {
    done: 'Done.',
    nothing: 'I found nothing.',
    media: 'Here is something to look at.',
    failed: (reason: string) => `That did not work: ${reason}`,
    answer: (value: string) => `The answer is ${value}.`,
    found: (list: string) => `I found ${list}.`,
    list: (parts: readonly string[]) => enumerate(parts, 'en'),
    weather: ({ degrees, sky, city }: Weather) => {
      const seen = sky === undefined ? '' : ` and ${skies.get(sky)?.en ?? sky}`
      return `It is ${degrees} °C${seen}${city === undefined ? '' : ` in ${city}`}.`
    },
    price: (subject: string, price: string) => `${subject} costs ${price}.`,
    has: (name: string, list: string) => `The ${name} has ${list}.`,
    emptyList: (name: string) => `The ${name} is empty.`,
    members: (members: readonly (readonly [string, string])[]) =>
      capitalize(
        `${enumerate(
          members.map(([name, value]) => `the ${name} is ${value}`),
          'en',
        )}.`,
      ),
  },
  zh: {
    done: '好了。',
    nothing: '什么也没找到。',
    media: '请看。',
    failed: (reason: string) => `没有成功：${reason}`,
    answer: (value: string) => `答案是 ${value}。`,
    found: (list: string) => `找到了${list}。`,
    list: (parts: readonly string[]) => enumerate(parts, 'zh'),
    weather: ({ degrees, sky, city }: Weather) => {
      const seen = sky === undefined ? '' : `，${skies.get(sky)?.zh ?? sky}`
      return `${city ?? '现在'}${city === undefined ? '' : '现在'} ${degrees} °C${seen}。`
    },
    price: (subject: string, price: string) => `${subject}：${price}。`,
    has: (name: string, list: string) => `${name}：${list}。`,
    emptyList: (name: string) => `${name}是空的。`,
    members: (members: readonly (readonly [string, string])[]) =>
      `${members.map(([name, value]) => `${name}：${value}`).join('，')}。`,
  },
} as const

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
