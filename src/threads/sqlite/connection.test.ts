import { describe, expect, it } from 'vitest'
import { createWriteGroup } from './connection.js'

/** A database that notes what its transactions have left. */
function rig({ isBroken = () => false }: { isBroken?: () => boolean } = {}) {
  const transactions: string[][] = []
  let open: string[] = []
  const group = createWriteGroup((work) => {
    open = []
    const result = work()
    if (isBroken()) throw new Error('The disk is full.')
    transactions.push(open)
    return result
  })
  const put = (name: string): Promise<string> =>
    group.write(() => {
      open.push(name)
      return name.toUpperCase()
    })
  const refuse = (): Promise<never> =>
    group.write(() => {
      open.push('refused')
      throw new Error('No.')
    })
  return { group, transactions, put, refuse }
}

/** Those that are done at once in each tick. */
const first = ['1', '2', '3', '4']
const firstDone = first.map((name) => [name])

describe('writes', () => {
  it('are done at once when they are the first of their tick', () => {
    const { put, transactions } = rig()
    for (const name of first) void put(name)
    expect(transactions).toEqual(firstDone)
  })

  it('of the same tick share a transaction, in their order, and get their own answers', async () => {
    const { put, transactions } = rig()
    expect(await Promise.all([...first, 'a', 'b', 'c'].map(put))).toEqual([...first, 'A', 'B', 'C'])
    expect(transactions).toEqual([...firstDone, ['a', 'b', 'c']])
  })

  it('of the next tick are done at once again', async () => {
    const { put, transactions } = rig()
    await Promise.all([...first, 'a'].map(put))
    void put('b')
    expect(transactions).toEqual([...firstDone, ['a'], ['b']])
  })

  it('are all done, but for the one that is refused', async () => {
    const { put, refuse, transactions } = rig()
    const all = await Promise.allSettled([...first.map(put), put('a'), refuse(), put('b')])
    expect(all.slice(4).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(transactions).toEqual([...firstDone, ['a'], ['b']])
  })

  it('all fail, tried once, when their transaction cannot be ended', async () => {
    let tries = 0
    const { put, transactions } = rig({ isBroken: () => ++tries > first.length })
    const all = await Promise.allSettled([...first, 'a', 'b'].map(put))
    expect(all.slice(4).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect([transactions, tries]).toEqual([firstDone, first.length + 1])
  })

  it('that wait can be done before the tick is over', async () => {
    const { group, put, transactions } = rig()
    const all = [...first, 'a', 'b'].map(put)
    group.flush()
    expect(transactions).toEqual([...firstDone, ['a', 'b']])
    await Promise.all(all)
    expect(transactions).toHaveLength(5)
  })
})
