/**
 * What a lane says of one kind between two complete answers. ADK sends it in pieces and then all of it once more; some
 * models send pieces that each repeat all before them.
 */
export interface Speech {
  readonly kind: 'text' | 'reasoning'
  /** All that came in pieces so far. */
  said: string
  /** Whether a piece is new text or repeats what came before. Unknown until two pieces have shown it. */
  pieces: 'unknown' | 'new' | 'repeating'
  /** Pieces that could be either. The next one tells. */
  held: string[] | undefined
  /** The messages it became. */
  ids: string[]
  /** The id of its next message, when that was told before it begins. */
  nextId: string | undefined
  /** The provider's signature for the message that is open. */
  signature: string | undefined
  /** The signature that was sent last. */
  signed: string | undefined
}

export function createSpeech(kind: Speech['kind']): Speech {
  return {
    kind,
    said: '',
    pieces: 'unknown',
    held: undefined,
    ids: [],
    nextId: undefined,
    signature: undefined,
    signed: undefined,
  }
}

/**
 * What is new in a piece. A piece repeats when it is longer than all that came before and begins with it, and the next
 * one does so too; until then it is held back. So a token that comes twice ('ha', 'ha') is two tokens.
 */
export function takePiece(speech: Speech, piece: string): string {
  if (speech.pieces === 'new' || speech.said === '') {
    speech.said += piece
    return piece
  }
  return speech.pieces === 'repeating' ? takeRepeating(speech, piece) : takeUnknown(speech, piece)
}

function takeRepeating(speech: Speech, piece: string): string {
  if (piece === speech.said) return ''
  if (!repeats(piece, speech.said)) {
    speech.pieces = 'new'
    speech.said += piece
    return piece
  }
  const fresh = piece.slice(speech.said.length)
  speech.said = piece
  return fresh
}

function takeUnknown(speech: Speech, piece: string): string {
  const last = speech.held?.at(-1)
  if (last === undefined ? repeats(piece, speech.said) : piece === last) {
    ;(speech.held ??= []).push(piece)
    return ''
  }
  if (last !== undefined && repeats(piece, last)) {
    speech.held = undefined
    speech.pieces = 'repeating'
    return takeRepeating(speech, piece)
  }
  speech.pieces = 'new'
  const fresh = releaseHeld(speech) + piece
  speech.said += piece
  return fresh
}

/** What was held back, when nothing can tell any more that it only repeats. */
export function releaseHeld(speech: Speech): string {
  const held = speech.held?.join('') ?? ''
  speech.held = undefined
  speech.said += held
  return held
}

function repeats(piece: string, before: string): boolean {
  return piece.length > before.length && piece.startsWith(before)
}

/** What a complete answer adds to its pieces. Undefined when it is not what was said in pieces. */
export function takeWhole(speech: Speech, whole: string): string | undefined {
  if (whole.startsWith(speech.said)) {
    speech.held = undefined
    return whole.slice(speech.said.length)
  }
  return undefined
}

/** Ready for the next answer. What is known about its pieces stays. */
export function startOver(speech: Speech): void {
  speech.said = ''
  speech.held = undefined
  speech.signed = undefined
  if (speech.ids.length > 0) speech.ids = []
}
