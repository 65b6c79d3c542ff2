/**
 * Measures how far a reader has to walk: the files and functions that a request and a text delta pass, by V8 precise
 * coverage of the build, and the sizes and names of the sources.
 *
 *   npm run walk                         all figures
 *   npm run walk -- --files              also lists the files that each request passes
 *   npm run walk -- --delta              also lists the functions that a text delta passes
 *   node scripts/walk.mjs --static       the figures of the sources only, without a build
 *   node scripts/walk.mjs --names        lists the function names that several files use
 *   node scripts/walk.mjs --single       lists the files with a single importer
 */
import { measureSources } from './walk/sources.mjs'

const flags = new Set(process.argv.slice(2))
const known = ['--static', '--names', '--single', '--files', '--delta']
const unknown = [...flags].filter((flag) => !known.includes(flag))
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(' ')}. Known: ${known.join(' ')}.`)
  process.exit(2)
}

const sources = measureSources('src')
console.table({ sources: sources.figures })
if (flags.has('--names'))
  for (const [name, files] of sources.repeatedNames) console.log(`${name}: ${files.join(' ')}`)
if (flags.has('--single'))
  for (const [file, importer] of sources.singleImporters) console.log(`${file} <- ${importer}`)

if (!['--static', '--names', '--single'].some((flag) => flags.has(flag))) {
  // Only here, since it imports the build.
  const { measureRequests } = await import('./walk/requests.mjs')
  const requests = await measureRequests()
  console.table(Object.fromEntries(requests.map(({ label, figures }) => [label, figures])))
  if (flags.has('--files'))
    for (const { label, files } of requests) console.log(`${label}: ${files.join(' ')}`)
  if (flags.has('--delta'))
    for (const { label, deltaPath } of requests)
      for (const [file, functions] of deltaPath) console.log(`${label}: ${file}: ${functions.join(' ')}`)
  // Runtimes keep timers and connections open.
  process.exit(0)
}
