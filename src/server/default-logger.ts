import type { pino as Pino, DestinationStream } from 'pino'
import type { Logger } from './logger.js'

export interface DefaultLoggerOptions {
  /** Default: standard output. */
  readonly destination?: DestinationStream
}

type Make = typeof Pino

const levels: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

// A belt: nobody should log them in the first place.
const secrets = [
  'authorization',
  'cookie',
  '*.authorization',
  '*.cookie',
  '*.headers.authorization',
  '*.headers.cookie',
]

/**
 * A pino logger that is loaded when it is first used. It writes JSON lines from the level in `LOG_LEVEL` up, `info`
 * unless set, and never credentials.
 */
export function createDefaultLogger({ destination }: DefaultLoggerOptions = {}): Logger {
  const level = levelFromEnv()
  const make = (pino: Make): Logger =>
    pino({ name: 'millrace', level, redact: secrets }, ...(destination ? [destination] : []))
  let ready: Logger | undefined
  let coming: Promise<Logger> | undefined
  const write = (name: keyof Logger, facts: object, message: string): void => {
    if (ready) return ready[name](facts, message)
    const found = coming ? undefined : requirePino()
    if (found) {
      ready = make(found)
      ready[name](facts, message)
    }
  }
  return logger
}
