/**
 * The same object with some members replaced. All other members use the object itself, which may have private fields
 * or be frozen: the target of the proxy is empty.
 */
export function replaceMembers<T extends object>(object: T, members: Readonly<Record<string, unknown>>): T {
  return new Proxy({} as T, {
    get(_, key): unknown {
      if (Object.hasOwn(members, key)) return Reflect.get(members, key)
      const value: unknown = Reflect.get(object, key, object)
      return typeof value === 'function' && key !== 'constructor' ? (value.bind(object) as unknown) : value
    },
    set: (_, key, value) => Reflect.set(object, key, value, object),
    has: (_, key) => Reflect.has(object, key),
    getPrototypeOf: () => Reflect.getPrototypeOf(object),
  })
}
