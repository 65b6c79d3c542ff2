/** One frame of an event stream, whatever its encoding. Frames are numbered from 1. */
export type DecodedFrame = EventFrame | MalformedFrame

/** A frame that could be read. */
export interface EventFrame {
  readonly kind: 'event'
  readonly frame: number
  /** What the frame carried. Not validated. */
  readonly event: unknown
}

/** A frame that could not be read. The frames after it can, so the reader decides whether this ends the stream. */
export interface MalformedFrame {
  readonly kind: 'malformed'
  readonly frame: number
  readonly error: Error
}
