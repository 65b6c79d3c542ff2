/**
 * Serves the demo agents with the console: `npm start`. Builds what is out of date first, so nothing of `dist` is imported
 * before that.
 */
import { ensureBuilt } from './ensure-built.mjs'
import { help, startOptions } from './start-options.mjs'

try {
  const options = startOptions(process.env)
  if (options === undefined) console.log(help)
  else {
    await ensureBuilt()
    const { startDemo } = await import('./start-demo.mjs')
    await startDemo(options)
  }
} catch (error) {
  const [reason] = String(error instanceof Error ? error.message : error).split('\n')
  console.error(`Cannot start: ${reason} (npm start -- --help)`)
  process.exitCode = 1
}
