import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { findBrowser } from '../../scripts/find-browser.mjs'

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of Chromium or Chrome. */
    readonly browser: string
  }
}

/** Once for all tests. */
export function setup({ provide }: TestProject): void {
  if (!existsSync(join(import.meta.dirname, '../../dist/console/index.html')))
    throw new Error('The console is not built: run `npm run build` first.')
  provide('browser', findBrowser())
}
