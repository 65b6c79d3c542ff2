/**
 * Tests the front ends in a browser: `npm run test:frontends`, with the arguments of vitest. Installs what they need when
 * the lock has changed, finds a browser, and builds the pages.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { findBrowser } from '../scripts/find-browser.mjs'

const here = import.meta.dirname
const screenshots = join(tmpdir(), 'millrace-frontends')

const examples = ['assistant-ui', 'copilotkit', 'nextjs', 'react'].map((name) =>
  join(here, '..', 'examples', name),
)

install(here)
for (const example of examples) install(example)
const browser = orFail(findBrowser)
// Pages and examples use the package as it is published.
run('npm', ['run', '--silent', 'build'], { cwd: join(here, '..') })
run('npx', ['tsc', '-p', 'examples/tsconfig.json'], { cwd: join(here, '..') })
run('npx', ['vite', 'build'], { cwd: here })
rmSync(screenshots, { recursive: true, force: true })
const { status } = spawnSync(
  'npx',
  ['vitest', '--config', 'frontends/vitest.config.ts', ...process.argv.slice(2)],
  {
    stdio: 'inherit',
    cwd: join(here, '..'),
    env: { ...process.env, CHROME_PATH: browser, FRONTENDS_SCREENSHOTS: screenshots },
  },
)
process.exitCode = status ?? 1

/** The front ends have a lock of their own: they weigh more than all else, and only these tests need them. */
function install(folder) {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const stamp = join(folder, 'node_modules', '.installed')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  console.log(`Installing ${relative(join(here, '..'), folder)} ...`)
  run('npm', ['ci', '--loglevel', 'error'], { cwd: folder })
  writeFileSync(stamp, lock)
}

/** Runs a command that prepares the tests. Its failure is ours. */
function run(command, args, options) {
  const { status, error, stderr } = spawnSync(command, args, { stdio: 'inherit', ...options })
  if (status !== 0) fail(`${command} ${args.join(' ')} failed. ${error?.message ?? stderr?.toString() ?? ''}`)
}

function orFail(find) {
  try {
    return find()
  } catch (error) {
    fail(error.message)
  }
}

function fail(reason) {
  console.error(`The front ends were not tested: ${reason}`)
  process.exit(1)
}
