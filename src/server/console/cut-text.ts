/** A value as JSON, with files and images in it cut to a note: they are large, and nobody reads them. Never throws. */
export function toCutText(value: unknown): string {
  try {
    const text: unknown = JSON.stringify(value, cutMedia)
    return typeof text === 'string' ? text : 'null'
  } catch {
    return JSON.stringify('[cut: this is not JSON]')
  }
}

const mayBeMedia = 1024
const dataUrl = /^data:[^,]{0,100},/
const base64 = /^[A-Za-z0-9+/_-]{256}/

function cutMedia(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return `[cut: ${value.byteLength} bytes]`
  if (typeof value !== 'string' || value.length <= mayBeMedia) return value
  const [head] = dataUrl.exec(value) ?? []
  if (head !== undefined) return `${head}[cut: ${value.length - head.length} characters]`
  return base64.test(value) ? `[cut: ${value.length} characters of base64]` : value
}
