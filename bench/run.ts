import { benchAbuse } from './abuse.js'
import { benchAdk } from './adk.js'
import { benchHttp } from './http.js'
import { benchKit } from './kit.js'
import { benchLangGraph } from './langgraph.js'
import { benchProtocol } from './protocol.js'

/** Each benchmark prints its figures and returns one line for every target it missed. */
const benchmarks = new Map<string, () => string[] | Promise<string[]>>([
  ['protocol', benchProtocol],
  ['kit', benchKit],
  ['http', benchHttp],
  ['adk', benchAdk],
  ['langgraph', benchLangGraph],
  ['abuse', benchAbuse],
])

const names = process.argv.slice(2)
const unknown = names.filter((name) => !benchmarks.has(name))
if (unknown.length > 0) {
  console.log(`Usage: npm run bench -- [${[...benchmarks.keys()].join('|')}]...   (all when none is named)`)
  process.exit(unknown.every((name) => name === '--help') ? 0 : 2)
}

const missed: string[] = []
for (const [name, benchmark] of benchmarks) {
  if (names.length === 0 || names.includes(name)) missed.push(...(await benchmark()))
}
for (const line of missed) console.error(`MISSED ${line}`)
process.exitCode = missed.length > 0 ? 1 : 0
