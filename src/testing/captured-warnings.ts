/* eslint-disable no-console -- the client reports what it repairs through console.warn only */

/** The variable that silences the client. */
const SILENCER = 'SUPPRESS_TRANSFORMATION_WARNINGS'

/** How the client ends a warning; of no help to who wants to know what is wrong. */
const ADVICE = / Set SUPPRESS_TRANSFORMATION_WARNINGS=true to silence\.$/

/**
 * Runs synchronous work and returns what it wrote to `console.warn`, which stays off the console. The environment
 * cannot silence it. Both are as before when this returns or throws.
 */
export function captureWarnings<T>(work: () => T): { result: T; warnings: string[] } {
  const warnings: string[] = []
  const warn = console.warn
  const silencer = process.env[SILENCER]
  Reflect.deleteProperty(process.env, SILENCER)
  console.warn = (...parts: unknown[]) => {
    warnings.push(parts.map(String).join(' ').replace(ADVICE, ''))
  }
  try {
    return { result: work(), warnings }
  } finally {
    console.warn = warn
    if (silencer !== undefined) process.env[SILENCER] = silencer
  }
}
