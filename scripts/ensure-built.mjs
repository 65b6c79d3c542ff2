import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const config = ['package.json', 'tsconfig.base.json', 'tsconfig.build.json']

/** What `npm start` needs, in the order in which it is built. */
const parts = [
  {
    name: 'server',
    sources: ['src', ...config],
    output: 'dist/index.js',
    command: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'],
    folder: '.',
    clean: 'dist',
  },
  {
    name: 'console',
    sources: [
      'console/src',
      'console/public',
      'console/index.html',
      'console/vite.config.ts',
      'console/package.json',
    ],
    output: 'dist/console/index.html',
    command: ['../node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'],
    folder: 'console',
  },
]

/** The parts that are not built, or whose sources are newer. */
export function staleParts() {
  const stale = parts.filter(({ sources, output }) => newest(sources) > timeOf(output))
  // The console is made of the client, and lies in the folder that is cleaned.
  return stale[0]?.name === 'server' ? parts : stale
}

/** Builds what is out of date, and says on one line what it does. */
export async function ensureBuilt(log = progressLine()) {
  const stale = staleParts()
  for (const [index, { name, command, folder, clean }] of stale.entries()) {
    log.say(`Building the ${name} (${index + 1} of ${stale.length}) …`)
    if (clean !== undefined) rmSync(join(root, clean), { recursive: true, force: true })
    const [script, ...args] = command
    const child = spawn(process.execPath, [join(root, folder, script), ...args], { cwd: join(root, folder) })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    const [code] = await once(child, 'close')
    if (code !== 0) {
      log.end()
      process.stderr.write(output)
      throw new Error(`The ${name} cannot be built.`)
    }
  }
  log.end()
}

/** One line that is written over in a terminal; elsewhere, a line for each step. */
function progressLine({ stream = process.stderr } = {}) {
  const clear = '\r\u001b[2K'
  return {
    say: (text) => stream.write(stream.isTTY ? clear + text : `${text}\n`),
    end: () => stream.isTTY && stream.write(clear),
  }
}

function newest(paths) {
  return Math.max(...paths.map((path) => newestBelow(join(root, path))))
}

function newestBelow(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  if (!stat.isDirectory()) return stat.mtimeMs
  // A folder is newer when a file was taken out of it.
  const inside = readdirSync(path).map((name) =>
    /\.test\.tsx?$/.test(name) ? 0 : newestBelow(join(path, name)),
  )
  return Math.max(stat.mtimeMs, ...inside)
}

function timeOf(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}
