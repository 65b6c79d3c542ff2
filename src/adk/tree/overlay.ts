/**
 * The same object, with some members in the place of its own. All others work on the object itself, which may have
 * private fields, or be frozen: the target of the proxy is empty.
 */
export function overlay<T extends object>(object: T, members: Partial<T>): T {
  return new Proxy({} as T, {
    get(_, key) {
      if (key in members) return Reflect.get(members, key) as unknown
      const value: unknown = Reflect.get(object, key, object)
      return typeof value === 'function' ? (value.bind(object) as unknown) : value
    },
    set: (_, key, value) => Reflect.set(object, key, value, object),
    has: (_, key) => Reflect.has(object, key),
    getPrototypeOf: () => Reflect.getPrototypeOf(object),
  })
}
