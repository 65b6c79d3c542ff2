/**
 * Tests the front ends in a browser: `npm run test:frontends`, with the arguments of vitest. Installs what they need when
 * the lock has changed, finds a browser, and builds the pages.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

const here = import.meta.dirname
const screenshots = join(tmpdir(), 'millrace-frontends')

const example = join(here, '..', 'examples', 'copilotkit')

install(here)
install(example)
const browser = findBrowser() ?? installBrowser()
run('npx', ['vite', 'build'], { cwd: here })
// The example uses the package as it is published.
run('npm', ['run', '--silent', 'build'], { cwd: join(here, '..') })
rmSync(screenshots, { recursive: true, force: true })
const { status } = spawnSync(
  'npx',
  ['vitest', '--config', 'frontends/vitest.config.ts', ...process.argv.slice(2)],
  {
    stdio: 'inherit',
    cwd: join(here, '..'),
    env: { ...process.env, FRONTENDS_BROWSER: browser, FRONTENDS_SCREENSHOTS: screenshots },
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

function findBrowser() {
  const { FRONTENDS_BROWSER: named } = process.env
  if (named !== undefined && !existsSync(named))
    fail(`FRONTENDS_BROWSER is ${named}, and there is no such file.`)
  return [
    process.env.FRONTENDS_BROWSER,
    ...['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].map(
      (name) => `/usr/bin/${name}`,
    ),
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ].find((path) => path !== undefined && existsSync(path))
}

function installBrowser() {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    fail(
      'There is no Chromium and no Chrome, and only root on Debian gets it by itself. Install one, or say in ' +
        'FRONTENDS_BROWSER where it is.',
    )
  console.log('Installing Chromium ...')
  run('apt-get', ['update', '-qq'], {})
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { stdio: 'pipe' })
  return findBrowser() ?? fail('apt-get has installed chromium, but it is not in /usr/bin.')
}

/** Runs a command that prepares the tests. Its failure is ours. */
function run(command, args, options) {
  const { status, error, stderr } = spawnSync(command, args, { stdio: 'inherit', ...options })
  if (status !== 0) fail(`${command} ${args.join(' ')} failed. ${error?.message ?? stderr?.toString() ?? ''}`)
}

function fail(reason) {
  console.error(`The front ends were not tested: ${reason}`)
  process.exit(1)
}
