import { expect, test } from 'vitest'
import { createSpeech, releaseHeld, startOver, takePiece, takeWhole } from './speech.js'

function taken(...pieces: string[]) {
  const speech = createSpeech('text')
  return { speech, deltas: pieces.map((piece) => takePiece(speech, piece)) }
}

test('pieces are new text', () => {
  expect(taken('Hel', 'lo', ' ', 'you').deltas).toEqual(['Hel', 'lo', ' ', 'you'])
})

test.each([
  ['a token twice', ['ha', 'ha', 'ha', '!']],
  ['a token that the text already ended with', ['It is OK', ' OK', 'OK']],
  ['the first token again, later', ['no', ' and ', 'no', ' and no']],
])('%s is not taken for repetition', (_name, pieces) => {
  expect(taken(...pieces).deltas.join('')).toBe(pieces.join(''))
})

test('a piece that begins with all before it is held until the next one tells', () => {
  expect(taken('ha', 'haha', '!').deltas).toEqual(['ha', '', 'haha!'])
  expect(taken('  ', '    ', 'x').deltas).toEqual(['  ', '', '    x'])
  expect(taken('ha', 'haha', 'haha', '!').deltas).toEqual(['ha', '', '', 'hahahaha!'])
})

test('pieces that repeat all before them give only what is new', () => {
  const pieces = ['The', 'The quick', 'The quick', 'The quick brown', 'The quick brown fox']
  expect(taken(...pieces).deltas).toEqual(['The', '', '', ' quick brown', ' fox'])
})

test('once pieces repeat, one without news gives nothing, and one that does not repeat is new text', () => {
  expect(taken('a b', 'a b c', 'a b c d', 'a b c d', 'e', 'e f').deltas).toEqual([
    'a b',
    '',
    ' c d',
    '',
    'e',
    'e f',
  ])
})

test('what is known about the pieces stays for the next answer', () => {
  const { speech } = taken('a', 'ab', 'abc')
  startOver(speech)
  expect([takePiece(speech, 'x'), takePiece(speech, 'xy')]).toEqual(['x', 'y'])
})

test('the whole decides about a piece that is held', () => {
  expect(takeWhole(taken('ha', 'haha').speech, 'hahaha')).toBe('haha')
  expect(takeWhole(taken('The', 'The quick').speech, 'The quick')).toBe(' quick')
})

test('without a whole, a piece that is held is new text', () => {
  const { speech } = taken('ha', 'haha')
  expect(releaseHeld(speech)).toBe('haha')
  expect(releaseHeld(speech)).toBe('')
  expect(speech.said).toBe('hahaha')
})

test('a whole adds what was not streamed, and is no whole of something else', () => {
  expect(takeWhole(taken('Hel', 'lo').speech, 'Hello')).toBe('')
  expect(takeWhole(taken('Hel').speech, 'Hello')).toBe('lo')
  expect(takeWhole(taken().speech, 'Hello')).toBe('Hello')
  expect(takeWhole(taken('Hello').speech, 'Goodbye')).toBeUndefined()
  expect(takeWhole(taken('Hello').speech, 'Hel')).toBeUndefined()
})
