import type { DestinationStream, pino } from 'pino'
import type { Logger } from '../contract.js'

export interface DefaultLoggerOptions {
  /** Gets the lines. Default: standard output. */
  readonly destination?: DestinationStream
}

type Pino = typeof pino

const levels: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** Nobody should log these in the first place. */
const secrets = ['authorization', 'cookie', '*.authorization', '*.cookie']

/**
 * A pino logger that is loaded when it is first used. It writes what is of the level `LOG_LEVEL` or above, `info`
 * unless set to one of pino's, and censors credentials that stand in the facts or one level below.
 */
export function createDefaultLogger({ destination }: DefaultLoggerOptions = {}): Logger {
  const options = { name: 'millrace', level: levelFromEnv(), redact: secrets }
  const open = (load: Pino): Logger => (destination ? load(options, destination) : load(options))
  let logger: Logger | undefined
  const write = (level: keyof Logger) => (facts: object, message: string) => {
    logger ??= openNow(open) ?? openLater(open)
    logger[level](facts, message)
  }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

function levelFromEnv(): string {
  const wanted = processOf()?.env?.LOG_LEVEL?.toLowerCase()
  return wanted !== undefined && levels.includes(wanted) ? wanted : 'info'
}

/** The process, or what there is of it: not every runtime with Web standards has one. */
function processOf(): Partial<NodeJS.Process> | undefined {
  return (globalThis as { readonly process?: Partial<NodeJS.Process> }).process
}

/** On Node, at once: a process may log why it ends and then end. */
function openNow(open: (load: Pino) => Logger): Logger | undefined {
  try {
    const nodeModule = processOf()?.getBuiltinModule?.('node:module')
    return (
      nodeModule && open((nodeModule.createRequire(import.meta.url)('pino') as { readonly pino: Pino }).pino)
    )
  } catch {
    // Not installed beside this file: a bundle has it elsewhere.
    return undefined
  }
}

/** Elsewhere when it has been imported, with the lines in their order. */
function openLater(open: (load: Pino) => Logger): Logger {
  const opened = import('pino').then(({ pino }) => open(pino))
  const write = (level: keyof Logger) => (facts: object, message: string) => {
    // Where there is no logger, nobody can be told; the server goes on.
    opened.then((logger) => logger[level](facts, message)).catch(() => undefined)
  }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
