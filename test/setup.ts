import fc from 'fast-check'
import { afterEach } from 'vitest'
import { finishTest } from './support/after-each-test.js'

/**
 * Random tests take the same path in every run, so that a failure is the change's and not the day's. To look further:
 * `FC_SEED=1234 npm run test:unit`.
 */
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 1_000_003) })

afterEach(finishTest)
