import { describe, expect, it } from 'vitest'
import { applyDelta, deltaToSession } from './state-sync.js'

const known = { isNew: false }

describe('what a session is told of the state of a thread', () => {
  it('is what has changed, and null for what is gone', () => {
    const session = { same: { a: [1] }, changed: 1, gone: 'x', wasGone: null }
    const delta = deltaToSession({ same: { a: [1] }, changed: 2, added: true }, session, known)
    expect(delta).toEqual({ changed: 2, added: true, gone: null })
  })

  it('is nothing when both are equal, also where one has null and the other nothing', () => {
    expect(deltaToSession({ a: 1, b: null }, { a: 1, c: null }, known)).toEqual({})
  })

  it('never touches keys of an app, of a user, of a run, or of ours', () => {
    const thread = { 'app:a': 1, 'user:a': 1, 'temp:a': 1, millrace_thread_id: 'forged' }
    const session = { 'app:b': 1, 'user:b': 1, 'temp:b': 1, millrace_thread_id: 't' }
    expect(deltaToSession(thread, session, known)).toEqual({})
  })

  it('leaves the keys of a session that the thread meets for the first time', () => {
    expect(deltaToSession({ a: 1 }, { own: 2 }, { isNew: true })).toEqual({ a: 1 })
  })

  it.each([undefined, null, ['a'], 'text', 7])('is nothing for the state %j, which has no keys', (state) => {
    expect(deltaToSession(state, { own: 2 }, known)).toEqual({})
  })

  it('takes names of members of objects for keys like any other', () => {
    expect(deltaToSession({ toString: 1 }, {}, known)).toEqual({ toString: 1 })
    expect(deltaToSession(JSON.parse('{"__proto__":{"a":1}}'), {}, known)).toEqual(
      JSON.parse('{"__proto__":{"a":1}}'),
    )
  })
})

describe('the state of a thread after a change in the session', () => {
  it('has new values, and not what was removed', () => {
    const delta = { changed: 2, gone: null, undone: undefined, added: [1] }
    expect(applyDelta({ kept: 0, changed: 1, gone: 1, undone: 1 }, delta)).toEqual({
      kept: 0,
      changed: 2,
      added: [1],
    })
  })

  it('is the same object when nothing changes', () => {
    const state = { a: { b: 1 } }
    expect(applyDelta(state, { a: { b: 1 }, gone: null, 'user:x': 1, 'temp:y': 2, 'app:z': 3 })).toBe(state)
    expect(applyDelta(undefined, {})).toBeUndefined()
  })

  it('is left as it was made', () => {
    const state = Object.freeze({ a: 1 })
    expect(applyDelta(state, { a: 2 })).toEqual({ a: 2 })
    expect(state).toEqual({ a: 1 })
  })

  it('begins with an object where there was none', () => {
    expect(applyDelta(undefined, { a: 1 })).toEqual({ a: 1 })
    expect(applyDelta(null, { a: 1 })).toEqual({ a: 1 })
  })

  it('stays what the client made it when that is no object', () => {
    const list = ['client']
    expect(applyDelta(list, { a: 1 })).toBe(list)
  })
})
