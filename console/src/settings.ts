import { useSyncExternalStore } from 'react'

/** A choice of the person that outlives the page. */
export interface Setting<T extends string> {
  get(): T
  set(value: T): void
  /** The value, as a hook. */
  use(): T
}

export function createSetting<T extends string>(name: string, values: readonly T[], initial: T): Setting<T> {
  const key = `millrace.${name}`
  const listeners = new Set<() => void>()
  let value = read(key, values) ?? initial
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const get = (): T => value
  return {
    get,
    set(next) {
      value = next
      try {
        localStorage.setItem(key, next)
      } catch {
        // A browser may forbid it: the choice then holds for this page.
      }
      for (const listener of listeners) listener()
    },
    use: () => useSyncExternalStore(subscribe, get),
  }
}

function read<T extends string>(key: string, values: readonly T[]): T | undefined {
  try {
    const stored = localStorage.getItem(key)
    return values.find((value) => value === stored)
  } catch {
    return undefined
  }
}

export const theme = createSetting('theme', ['auto', 'light', 'dark'], 'auto')

/** Writes the choice of colours and language to the document. */
export function applySettings(themeName: string, language: string): void {
  const { documentElement } = document
  documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
  if (themeName === 'auto') delete documentElement.dataset.theme
  else documentElement.dataset.theme = themeName
}
