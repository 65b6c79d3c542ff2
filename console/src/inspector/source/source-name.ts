import { parseOwnRun } from './own-run.js'

/** What a source is called on the page. */
export function nameOfSource(source: string): string {
  const run = parseOwnRun(source)
  if (run) return `${run.agent} · ${run.runId}`
  return source.replace(/^(file|url):/, '').replace(/#[^#]*$/, (hash) => ` · ${hash.slice(1, 9)}`)
}
