/** What JSON makes of a value. Undefined when it makes nothing of it: a function, a circle. */
export function jsonValue(value: unknown): unknown {
  try {
    const text = JSON.stringify(value) as string | undefined
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
