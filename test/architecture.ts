import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import ts from 'typescript'

const ground = ['core', 'protocol']
const parts = [...ground, 'bridge', 'agents', 'a2ui', 'models', 'threads']
const runtimes = [...parts, 'adk', 'langgraph', 'remote']

/** Which other rooms a room may import. */
const rooms = new Map<string, readonly string[]>([
  ['core', []],
  ['protocol', ['core']],
  ['testing', ground],
  ['bridge', ground],
  ['agents', [...ground, 'bridge', 'models']],
  ['models', ground],
  ['a2ui', [...ground, 'bridge', 'agents', 'models']],
  ['client', ground],
  ['threads', ground],
  ['adk', parts],
  ['langgraph', parts],
  ['remote', parts],
  ['server', runtimes],
  ['cli', [...runtimes, 'server', 'testing']],
])

/** Libraries, or scopes of libraries, that only some rooms may import. */
const confined = new Map<string, readonly string[]>([
  ['@google/adk', ['adk']],
  ['@langchain', ['langgraph']],
  ['pg', ['threads']],
  ['ioredis', ['threads']],
  ['@modelcontextprotocol/sdk', ['agents']],
  ['re2js', ['agents']],
  ['@ag-ui/client', ['testing', 'remote', 'client']],
  ['rxjs', ['testing', 'remote']],
  ['react', ['client']],
  ['@ag-ui/a2ui-toolkit', ['a2ui']],
])

/** Rooms that run wherever there are Web standards. */
const portable = [...ground, 'client']

/** Each store is a published entry in a folder of its own. */
const storeEntry = /^src\/threads\/[^/]+\/store\.ts$/

const packageName = 'millrace'
const rootFiles = ['src/index.ts', 'src/index.test.ts']

export interface SourceFile {
  /** From the root of the project, with forward slashes. */
  readonly path: string
  readonly source: string
}

/** The sources of this project with their tests. */
export function readSources(): SourceFile[] {
  const root = join(import.meta.dirname, '..')
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name.replaceAll('\\', '/')}`)
    .map((path) => ({ path, source: readFileSync(join(root, path), 'utf8') }))
}

/** Checks every import in files of `src/`. Gives one sentence for each that breaks a rule; none when all is well. */
export function findViolations(files: readonly SourceFile[]): string[] {
  const paths = new Set(files.map(({ path }) => path))
  return files.flatMap(({ path, source }) => {
    const room = roomOf(path)
    if (room !== undefined && !rooms.has(room))
      return [`${path} is in '${room}', a room the table does not know`]
    if (room === undefined && !rootFiles.includes(path)) return [`${path} is in no room`]
    const rules = { room, isTest: isTest(path), paths }
    return importsOf(source).flatMap((specifier) => {
      const target = resolve(path, specifier)
      const problem = target === undefined ? libraryProblem(specifier, rules) : fileProblem(target, rules)
      return problem === undefined ? [] : [`${path} imports '${specifier}': ${problem}`]
    })
  })
}

interface Rules {
  /** The room the import stands in; undefined in the root entry. */
  readonly room: string | undefined
  readonly isTest: boolean
  readonly paths: ReadonlySet<string>
}

function libraryProblem(specifier: string, { room, isTest }: Rules): string | undefined {
  if (isWithin(specifier, packageName)) return 'inside the package, import the file'
  // Tests are not shipped: they may look at a room with any tool.
  if (isTest) return undefined
  // The prefix too, since newer Nodes have modules that this one does not know.
  const isNode = specifier.startsWith('node:') || isBuiltin(specifier)
  if (isNode && room !== undefined && portable.includes(room)) return `'${room}' must run without Node`
  for (const [library, homes] of confined) {
    if (!isWithin(specifier, library) || (room !== undefined && homes.includes(room))) continue
    return `'${library}' belongs in ${homes.join(' and ')}`
  }
  return undefined
}

function fileProblem(target: string, { room, isTest, paths }: Rules): string | undefined {
  if (!target.startsWith('src/')) return isTest ? undefined : 'what is shipped stands in src'
  const other = roomOf(target)
  if (other === room) return undefined
  if (other === undefined) return 'only users import the root entry'
  // Every stream that a test produces is linted.
  const isLinting = isTest && other === 'testing'
  if (room !== undefined && !isLinting && rooms.get(room)?.includes(other) !== true)
    return `'${room}' may not import '${other}'`
  const index = `src/${other}/index.ts`
  if (paths.has(index)) return target === index ? undefined : `'${other}' shows only its index`
  const isShown = posix.dirname(target) === `src/${other}` || storeEntry.test(target)
  return isShown ? undefined : `'${other}' shows only its top-level files`
}

// preProcessFile does not see `export * as name from`; the linter forbids that.
function importsOf(source: string): string[] {
  return ts.preProcessFile(source, true, true).importedFiles.map(({ fileName }) => fileName)
}

/** The source file a relative import means; undefined for a library. */
function resolve(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return posix.join(posix.dirname(from), specifier).replace(/\.js$/, '.ts')
}

function roomOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1]
}

function isWithin(specifier: string, library: string): boolean {
  return specifier === library || specifier.startsWith(`${library}/`)
}

function isTest(path: string): boolean {
  return path.endsWith('.test.ts')
}
