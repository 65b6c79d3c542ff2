import { describe, expect, it } from 'vitest'
import { manualClock } from '../../core/clock.js'
import { createWriteQueue } from './write-queue.js'

/** A database that notes what its transactions have left. */
function rig({ isBroken = () => false }: { isBroken?: () => boolean } = {}) {
  const transactions: string[][] = []
  let open: string[] = []
  const clock = manualClock()
  const file = { isHeld: false, tries: 0 }
  const queue = createWriteQueue((work) => {
    file.tries++
    if (file.isHeld) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
    open = []
    const result = work()
    if (isBroken()) throw new Error('The disk is full.')
    transactions.push(open)
    return result
  }, clock)
  const put = (name: string): Promise<string> =>
    queue.write(() => {
      open.push(name)
      return name.toUpperCase()
    })
  const refuse = (): Promise<never> =>
    queue.write(() => {
      open.push('refused')
      throw new Error('No.')
    })
  return { queue, transactions, put, refuse, clock, file }
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
})

describe('writes while another process holds the file', () => {
  it('wait, then are done together in their order', async () => {
    const { put, transactions, clock, file } = rig()
    file.isHeld = true
    const all = ['a', 'b'].map(put)
    await clock.advance(500)
    all.push(put('c'))
    await clock.advance(500)
    expect(transactions).toEqual([])
    file.isHeld = false
    await clock.advance(50)
    expect(transactions).toEqual([['a', 'b', 'c']])
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C'])
    expect(clock.pending).toBe(0)
  })

  it('are tried soon, and then ever more seldom', async () => {
    const { put, clock, file } = rig()
    file.isHeld = true
    const writing = put('a')
    await clock.advance(1)
    expect(file.tries).toBe(2)
    await clock.advance(999)
    expect(file.tries).toBeLessThan(30)
    file.isHeld = false
    await clock.advance(50)
    expect(await writing).toBe('A')
  })

  it('fail after ten seconds, each counted from its own beginning, and are not written later', async () => {
    const { put, transactions, clock, file } = rig()
    file.isHeld = true
    const early = Promise.allSettled(['a', 'b'].map(put))
    await clock.advance(5_000)
    const late = put('c')
    await clock.advance(5_050)
    const storeError = expect.objectContaining({ code: 'STORE_ERROR', expose: true }) as unknown
    expect(await early).toEqual([1, 2].map(() => ({ status: 'rejected', reason: storeError })))
    file.isHeld = false
    await clock.advance(50)
    expect(await late).toBe('C')
    expect(transactions).toEqual([['c']])
  })

  it('go on with the next when one of those that waited is refused', async () => {
    const { put, refuse, transactions, clock, file } = rig()
    file.isHeld = true
    const all = Promise.allSettled([put('a'), refuse(), put('b')])
    file.isHeld = false
    await clock.advance(1)
    expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(transactions).toEqual([['a'], ['b']])
  })

  it('are refused when ten thousand wait already', async () => {
    const { put, transactions, clock, file } = rig()
    file.isHeld = true
    const all = Array.from({ length: 10_000 }, () => put('a'))
    await expect(put('b')).rejects.toMatchObject({ code: 'STORE_ERROR' })
    file.isHeld = false
    await clock.advance(1)
    await Promise.all(all)
    expect(transactions.flat()).toHaveLength(10_000)
  })

  it('are waited for before the store is closed', async () => {
    const { queue, put, clock, file } = rig()
    file.isHeld = true
    const order: string[] = []
    const writing = put('a').then(() => order.push('written'))
    const settled = queue.settled().then(() => order.push('settled'))
    await clock.advance(100)
    expect(order).toEqual([])
    file.isHeld = false
    await clock.advance(50)
    await Promise.all([writing, settled])
    expect(order).toEqual(['written', 'settled'])
  })
})
