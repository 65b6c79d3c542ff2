/** Counts how often members are read, at any depth. What takes work in proportion to the square shows at once. */
export function countingReads(): { readonly watch: <T>(value: T) => T; reads: () => number } {
  let reads = 0
  const handler: ProxyHandler<object> = {
    get(target, key) {
      reads++
      return watch<unknown>(Reflect.get(target, key))
    },
  }
  const watch = <T>(value: T): T =>
    typeof value === 'object' && value !== null ? (new Proxy(value, handler) as T) : value
  return { watch, reads: () => reads }
}
