/** A short, stable name for a text: 64 bits of FNV-1a in hex. Not for secrets. */
export function stableHash(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (let i = 0; i < text.length; i++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n)
  }
  return hash.toString(16).padStart(16, '0')
}
