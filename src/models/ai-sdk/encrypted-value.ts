import { isRecord, parseJson } from '../../core/json.js'
import type { ProviderOptions } from './specification.js'

/** A provider's metadata as the opaque text that AG-UI stores with a message; empty without metadata. */
export function toEncryptedValue(metadata: ProviderOptions | undefined): { encryptedValue?: string } {
  if (metadata === undefined || Object.values(metadata).every((entry) => Object.keys(entry).length === 0))
    return {}
  return { encryptedValue: JSON.stringify(metadata) }
}

/** Reverses `toEncryptedValue`; empty for a value from elsewhere. */
export function fromEncryptedValue(value: string | undefined): { providerOptions?: ProviderOptions } {
  const parsed = parseJson(value ?? '')
  return isProviderOptions(parsed) ? { providerOptions: parsed } : {}
}

function isProviderOptions(value: unknown): value is ProviderOptions {
  return isRecord(value) && Object.values(value).every(isRecord)
}
