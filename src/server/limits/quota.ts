import type { Owner } from '../../threads/contract.js'

export interface QuotaLimits {
  readonly total: number
  readonly perUser: number
}

/** Something that users hold for a time: open streams, bytes of bodies. */
export interface Quota {
  /** A share of the user, empty at first. Give it back with `release`. */
  open(owner: Pick<Owner, 'app' | 'user'>): Share
}

export interface Share {
  /** Adds to the share. Returns false, and adds nothing, when the user or all users together would hold too much. */
  take(amount: number): boolean
  /** Gives back what is above this amount. */
  keep(amount: number): void
  /** Gives all of it back. Releasing twice does nothing. */
  readonly release: () => void
}

/** The name of a user among those of all apps. */
export function userKey({ app, user }: Pick<Owner, 'app' | 'user'>): string {
  return JSON.stringify([app, user])
}

/** Only users who hold something are remembered. */
export function createQuota({ total, perUser }: QuotaLimits): Quota {
  const heldBy = new Map<string, number>()
  let heldByAll = 0
  const add = (key: string, amount: number): void => {
    const held = (heldBy.get(key) ?? 0) + amount
    if (held > 0) heldBy.set(key, held)
    else heldBy.delete(key)
    heldByAll += amount
  }
  return {
    open(owner) {
      const key = userKey(owner)
      let share = 0
      const keep = (amount: number): void => {
        if (share <= amount) return
        add(key, amount - share)
        share = amount
      }
      return {
        take(amount) {
          if (heldByAll + amount > total || (heldBy.get(key) ?? 0) + amount > perUser) return false
          share += amount
          add(key, amount)
          return true
        },
        keep,
        release: () => keep(0),
      }
    },
  }
}
