import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const usual = [
  ...['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].map(
    (name) => `/usr/bin/${name}`,
  ),
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Where Chromium or Chrome is: at CHROME_PATH, or in a usual place. Root on Debian gets it by apt-get. Throws when there is none. */
export function findBrowser() {
  const { CHROME_PATH: named } = process.env
  if (named !== undefined && !existsSync(named))
    throw new Error(`CHROME_PATH is ${named}, and there is no such file.`)
  return named ?? findUsual() ?? installChromium()
}

function findUsual() {
  return usual.find((path) => existsSync(path))
}

function installChromium() {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    throw new Error(
      'There is no Chromium and no Chrome, and only root on Debian gets it by itself. Install one, or say in CHROME_PATH where it is.',
    )
  console.log('Installing Chromium ...')
  run('apt-get', ['update', '-qq'])
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'])
  const path = findUsual()
  if (path === undefined) throw new Error('apt-get has installed chromium, but it is not in /usr/bin.')
  return path
}

function run(command, args) {
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed. ${error?.message ?? stderr}`)
}
