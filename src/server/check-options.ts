import { MillraceError } from '../core/errors.js'
import type { ServerOptions } from './options.js'

/** Throws INVALID_OPTIONS, naming the option, for what cannot be meant. */
export function checkOptions({ limits = {}, threads = {}, basePath = '', cors }: ServerOptions): void {
  for (const [name, value] of Object.entries({
    ...prefixed('limits', limits),
    ...prefixed('threads', threads),
  }))
    if (typeof value !== 'function') checkPositive(name, value)
  if (basePath !== '' && !/^(?:\/[^/?#]+)+$/.test(basePath))
    throw invalid('basePath', 'begin with a slash and not end with one')
  const origins = cors?.origins ?? []
  for (const origin of origins === '*' ? [] : origins)
    if (!isOrigin(origin)) throw invalid('cors.origins', 'be origins such as https://app.example.com')
}

function prefixed(group: string, values: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${group}.${name}`, value as unknown]),
  )
}

function checkPositive(name: string, value: unknown): void {
  if (value !== undefined && !(typeof value === 'number' && value > 0))
    throw invalid(name, 'be a number above 0')
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

function invalid(name: string, must: string): MillraceError {
  return new MillraceError('INVALID_OPTIONS', `\`${name}\` must ${must}.`, { details: { option: name } })
}
