/** The part of a pino logger that is used. Facts come first, then the sentence. */
export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}
