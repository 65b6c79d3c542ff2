import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { errorCodes } from '../src/core/error-codes.js'

const text = readFileSync(join(import.meta.dirname, '../docs/errors.md'), 'utf8')

/** The cells of every row whose first cell is a code. */
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )

test('docs/errors.md lists exactly the codes there are, each once, with their status and exposure', () => {
  const documented = rows.map(([code, status, shown]) => [code, status, shown].join(' '))
  const actual = Object.entries(errorCodes).map(
    ([code, { status, expose }]) => `\`${code}\` ${status} ${expose ? 'yes' : 'no'}`,
  )
  expect(documented.sort()).toEqual(actual.sort())
})

test('docs/errors.md says of every code what it means and what to do', () => {
  for (const cells of rows) {
    expect(cells).toHaveLength(5)
    for (const cell of cells) expect(cell).not.toBe('')
  }
})
