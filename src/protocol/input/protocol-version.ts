import { PROTOCOL_VERSION } from '@ag-ui/core'

import { MillraceError } from '../../core/errors.js'
import { quote } from '../check/field-note.js'
import { invalidInput } from './invalid-input.js'

const grammar = /^(\d+)\.\d+$/

/**
 * Checks the version a client declares. Every minor version of our major is served: a newer one only adds what is
 * dropped with a warning. Throws `UNSUPPORTED_PROTOCOL` for another major and `INVALID_INPUT` for what is no version.
 */
export function checkProtocolVersion(declared: string): void {
  const major = grammar.exec(declared)?.[1]
  if (major === undefined) {
    const message = `expected a version such as "${PROTOCOL_VERSION}", got ${quote(declared)}`
    throw invalidInput({ field: 'protocolVersion', message })
  }
  if (Number(major) !== Number.parseInt(PROTOCOL_VERSION, 10)) {
    const message = `The client speaks protocol ${quote(declared)}; this server speaks ${PROTOCOL_VERSION}.`
    throw new MillraceError('UNSUPPORTED_PROTOCOL', message, { details: { field: 'protocolVersion' } })
  }
}
