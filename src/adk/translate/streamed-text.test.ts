import { expect, test } from 'vitest'
import { StreamedText } from './streamed-text.js'

function taken(...chunks: string[]) {
  const streamed = new StreamedText()
  return { streamed, deltas: chunks.map((chunk) => streamed.takeChunk(chunk)) }
}

test('chunks are new text', () => {
  expect(taken('Hel', 'lo', ' ', 'you').deltas).toEqual(['Hel', 'lo', ' ', 'you'])
})

test.each([
  ['a token twice', ['ha', 'ha', 'ha', '!']],
  ['a token that the text already ended with', ['It is OK', ' OK', 'OK']],
  ['the first token again, later', ['no', ' and ', 'no', ' and no']],
])('%s is not taken for repetition', (_name, chunks) => {
  expect(taken(...chunks).deltas.join('')).toBe(chunks.join(''))
})

test('a chunk that begins with all before it is held until the next one tells', () => {
  expect(taken('ha', 'haha', '!').deltas).toEqual(['ha', '', 'haha!'])
  expect(taken('  ', '    ', 'x').deltas).toEqual(['  ', '', '    x'])
  expect(taken('ha', 'haha', 'haha', '!').deltas).toEqual(['ha', '', '', 'hahahaha!'])
})

test('chunks that repeat all before them give only what is new', () => {
  const chunks = ['The', 'The quick', 'The quick', 'The quick brown', 'The quick brown fox']
  expect(taken(...chunks).deltas).toEqual(['The', '', '', ' quick brown', ' fox'])
})

test('once chunks repeat, one without news gives nothing, and one that does not repeat is new text', () => {
  expect(taken('a b', 'a b c', 'a b c d', 'a b c d', 'e', 'e f').deltas).toEqual([
    'a b',
    '',
    ' c d',
    '',
    'e',
    'e f',
  ])
})

test('what is known about the chunks stays for the next answer', () => {
  const { streamed } = taken('a', 'ab', 'abc')
  streamed.reset()
  expect([streamed.takeChunk('x'), streamed.takeChunk('xy')]).toEqual(['x', 'y'])
})

test('the whole decides about a chunk that is held', () => {
  expect(taken('ha', 'haha').streamed.takeWhole('hahaha')).toBe('haha')
  expect(taken('The', 'The quick').streamed.takeWhole('The quick')).toBe(' quick')
})

test('without a whole, a chunk that is held is new text', () => {
  const { streamed } = taken('ha', 'haha')
  expect(streamed.takeUndecided()).toBe('haha')
  expect(streamed.takeUndecided()).toBe('')
  expect(streamed.text).toBe('hahaha')
})

test('a whole adds what was not streamed, and is no whole of something else', () => {
  expect(taken('Hel', 'lo').streamed.takeWhole('Hello')).toBe('')
  expect(taken('Hel').streamed.takeWhole('Hello')).toBe('lo')
  expect(taken().streamed.takeWhole('Hello')).toBe('Hello')
  expect(taken('Hello').streamed.takeWhole('Goodbye')).toBeUndefined()
  expect(taken('Hello').streamed.takeWhole('Hel')).toBeUndefined()
})
