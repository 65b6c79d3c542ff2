import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readSources } from './architecture.js'
import { findThrownOutWords, readGlossary } from './glossary.js'

const thrownOut = readGlossary(readFileSync('docs/glossary.md', 'utf8'))

describe('the glossary', () => {
  it('keeps the words it has thrown out from coming back', () => {
    expect(findThrownOutWords(readSources(), thrownOut)).toEqual([])
  })

  it('reads bold and italic words of the last column only', () => {
    const table =
      '| word | means | not |\n| --- | --- | --- |\n| **run** | An _example_. | job, **drive**, _held_ |'
    expect(readGlossary(table)).toEqual({ words: new Set(['drive']), names: new Set(['held']) })
  })

  it.each([
    ['a file', 'src/adk/voice.ts', ''],
    ['a test', 'src/adk/voice.test.ts', ''],
    ['a file, as two words', 'src/agents/after-loss.ts', ''],
    ['a type, as a plural', 'src/adk/a.ts', 'interface OpenQuestions {}'],
    ['a method', 'src/adk/a.ts', 'class A { askQuestion() {} }'],
    ['an arrow function', 'src/agents/a.ts', 'const held = () => 1'],
  ])('finds a planted word in the name of %s', (_, path, source) => {
    expect(findThrownOutWords([{ path, source }], thrownOut)).toHaveLength(1)
  })

  it.each([
    ['part of another word', 'function replaceText() {}'],
    ['a variable', 'const held = 1'],
    ['an italic word beside another', 'function heldBack() {}'],
  ])('lets %s pass', (_, source) => {
    expect(findThrownOutWords([{ path: 'src/core/a.ts', source }], thrownOut)).toEqual([])
  })
})
