import { expect, test } from 'vitest'
import { createQuota } from './quota.js'

const ann = { app: 'default', user: 'ann' }
const bob = { app: 'default', user: 'bob' }

test('gives a user no more than its part, and others theirs', () => {
  const quota = createQuota({ total: 100, perUser: 3 })
  const shares = Array.from({ length: 4 }, () => quota.open(ann))
  expect(shares.map((share) => share.take(1))).toEqual([true, true, true, false])
  expect(quota.open(bob).take(3)).toBe(true)
  // A user of the same name in another app is another.
  expect(quota.open({ app: 'other', user: 'ann' }).take(3)).toBe(true)
  shares[0]?.release()
  expect(quota.open(ann).take(1)).toBe(true)
})

test('gives all users together no more than there is', () => {
  const quota = createQuota({ total: 10, perUser: 8 })
  const large = quota.open(ann)
  expect(large.take(8)).toBe(true)
  const other = quota.open(bob)
  expect([other.take(3), other.take(2)]).toEqual([false, true])
  large.release()
  expect(other.take(3)).toBe(true)
})

test('takes a share back once, and nothing for one that was refused', () => {
  const quota = createQuota({ total: 10, perUser: 10 })
  const [first, second, refused] = [quota.open(ann), quota.open(ann), quota.open(ann)]
  expect([first.take(5), second.take(5), refused.take(1)]).toEqual([true, true, false])
  refused.release()
  first.release()
  first.release()
  const third = quota.open(ann)
  expect([third.take(6), third.take(5)]).toEqual([false, true])
})
