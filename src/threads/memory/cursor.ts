import { MillraceError } from '../../core/errors.js'

/** Where a page of a list has ended: behind the thread that had this time and id. */
export interface ListPlace {
  readonly updatedAt: number
  readonly thread: string
}

/** The text that stands for a place. Nobody else need understand it. */
export function toCursor({ updatedAt, thread }: ListPlace): string {
  return Buffer.from(JSON.stringify([updatedAt, thread])).toString('base64url')
}

/** The place that a text stands for. Throws INVALID_INPUT for a text that `toCursor` has not made. */
export function fromCursor(cursor: string): ListPlace {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(place) && place.length === 2) {
      const [updatedAt, thread] = place as unknown[]
      if (typeof updatedAt === 'number' && typeof thread === 'string') return { updatedAt, thread }
    }
  } catch (cause) {
    throw new MillraceError('INVALID_INPUT', 'The cursor is not one of this list.', { cause })
  }
  throw new MillraceError('INVALID_INPUT', 'The cursor is not one of this list.')
}
