import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Runs every example as its own program. Each checks itself and exits with an error if it is wrong. */
const here = fileURLToPath(new URL('.', import.meta.url))
const stories = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

let failed = 0
for (const story of stories) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${here}/${story}/main.js`], {
    encoding: 'utf8',
    timeout: 60_000,
    // The examples run on the demo model, whatever keys this machine has.
    env: { PATH: process.env.PATH },
  })
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} examples/${story}`)
  if (status !== 0) {
    failed++
    console.log(stdout + stderr)
  }
}
console.log(`${stories.length - failed} passed, ${failed} failed`)
process.exitCode = failed > 0 || stories.length === 0 ? 1 : 0
