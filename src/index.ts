export { errorCodes, type ErrorCode, type ErrorCodeInfo } from './core/error-codes.js'
export { MillraceError, type MillraceErrorOptions } from './core/errors.js'
