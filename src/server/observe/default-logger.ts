import type { DestinationStream, pino } from 'pino'
import type { Logger } from '../contract.js'

export interface DefaultLoggerOptions {
  /** Receives the lines. Default: standard output. */
  readonly destination?: DestinationStream
}

type Pino = typeof pino

const levels: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** Redacted in case the application logs them by mistake. */
const credentials = ['authorization', 'cookie', '*.authorization', '*.cookie']

/**
 * Creates a pino logger that is loaded when it is first used. It writes at the level `LOG_LEVEL` and above, by default
 * `info`, and redacts credentials in the facts or one level below.
 */
export function createDefaultLogger({ destination }: DefaultLoggerOptions = {}): Logger {
  const options = { name: 'millrace', level: levelFromEnv(), redact: credentials }
  const create = (pino: Pino): Logger => (destination ? pino(options, destination) : pino(options))
  let logger: Logger | undefined
  const write = (level: keyof Logger) => (facts: object, message: string) => {
    logger ??= requirePino(create) ?? importPino(create)
    logger[level](facts, message)
  }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

function levelFromEnv(): string {
  const wanted = currentProcess()?.env?.LOG_LEVEL?.toLowerCase()
  return wanted !== undefined && levels.includes(wanted) ? wanted : 'info'
}

/** Returns what there is of Node's process: not every runtime has one. */
function currentProcess(): Partial<NodeJS.Process> | undefined {
  return (globalThis as { readonly process?: Partial<NodeJS.Process> }).process
}

/** Loads pino at once on Node, where a process may log why it ends and then end. */
function requirePino(create: (pino: Pino) => Logger): Logger | undefined {
  try {
    const nodeModule = currentProcess()?.getBuiltinModule?.('node:module')
    if (!nodeModule) return undefined
    const { pino } = nodeModule.createRequire(import.meta.url)('pino') as { readonly pino: Pino }
    return create(pino)
  } catch {
    // pino is not installed beside this file, for example in a bundle.
    return undefined
  }
}

/** Writes the lines, in their order, once pino has been imported. */
function importPino(create: (pino: Pino) => Logger): Logger {
  const loaded = import('pino').then(({ pino }) => create(pino))
  const write = (level: keyof Logger) => (facts: object, message: string) => {
    // Without a logger there is nowhere to report it.
    loaded.then((logger) => logger[level](facts, message)).catch(() => undefined)
  }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
