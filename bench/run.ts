import { benchProtocol } from './protocol.js'

/** Each benchmark prints its figures and gives one line for every target it missed. */
const benchmarks: Record<string, () => string[]> = { protocol: benchProtocol }

const names = process.argv.slice(2)
const unknown = names.filter((name) => !Object.hasOwn(benchmarks, name))
if (unknown.length > 0 || names.includes('--help')) {
  console.log(`Usage: npm run bench -- [${Object.keys(benchmarks).join('|')}]...   (all when none is named)`)
  process.exit(unknown.some((name) => name !== '--help') ? 2 : 0)
}

const missed = (names.length > 0 ? names : Object.keys(benchmarks)).flatMap(
  (name) => benchmarks[name]?.() ?? [],
)
for (const line of missed) console.error(`MISSED ${line}`)
process.exitCode = missed.length > 0 ? 1 : 0
