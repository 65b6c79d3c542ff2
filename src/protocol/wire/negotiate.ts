import type { WireFormat } from '../contract.js'
import { protobufMediaType } from './protobuf.js'

const qualityValue = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/

/**
 * Chooses the encoding of an event stream. Protobuf only when the Accept header names its media type: a wildcard is
 * what any HTTP client sends, and says nothing about reading it. When both formats are named the higher quality
 * wins, and protobuf at equal quality.
 */
export function negotiate(accept: string | null | undefined): WireFormat {
  if (!accept?.toLowerCase().includes(protobufMediaType)) return 'sse'
  const qualities = accept.split(',').map(parseRange)
  const best = (type: string): number =>
    Math.max(0, ...qualities.filter((range) => range.type === type).map((range) => range.quality))
  const protobuf = best(protobufMediaType)
  return protobuf > 0 && protobuf >= best('text/event-stream') ? 'protobuf' : 'sse'
}

function parseRange(range: string): { type: string; quality: number } {
  const [type = '', ...parameters] = range.split(';').map((token) => token.trim().toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
  // A range whose quality cannot be read counts as not named.
  return { type, quality: qualityValue.test(quality) ? Number(quality) : 0 }
}
