import { toCutText } from '../console/cut-text.js'
import { isPromise, type HookContext } from './call-hook.js'
import type { Hooks, RunInfo } from './hooks.js'

/**
 * The same hook, whose changes the console can show: what it got, if it returned or made something else of it. The hook itself
 * where there is no console, so that it costs nothing.
 */
export function withRecordedChanges<Given, Returned>(
  { board }: HookContext,
  { name, info }: { readonly name: keyof Hooks; readonly info: RunInfo },
  hook: (given: Given) => Returned | Promise<Returned>,
): (given: Given) => Returned | Promise<Returned> {
  const recording = board?.of(info)
  if (!recording) return hook
  return (given) => {
    // Text: the hook may change what it gets.
    const before = toCutText(given)
    const compare = (returned: Returned): Returned => {
      const after = returned === undefined ? undefined : toCutText(returned)
      if (after !== before) recording.changed(name, before, after)
      return returned
    }
    const result = hook(given)
    return isPromise(result) ? result.then(compare) : compare(result)
  }
}
