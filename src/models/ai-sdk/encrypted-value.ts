import { isRecord } from '../../core/is-record.js'
import { parseJson } from '../parse-json.js'
import type { ProviderOptions } from './language-model.js'

/** The metadata of a provider as the opaque text that AG-UI stores with a message. Nothing when there is none. */
export function toEncryptedValue(metadata: ProviderOptions | undefined): { encryptedValue?: string } {
  if (metadata === undefined || Object.values(metadata).every((entry) => Object.keys(entry).length === 0))
    return {}
  return { encryptedValue: JSON.stringify(metadata) }
}

/** What `toEncryptedValue` stored, as options for the same provider. A value of other origin gives nothing. */
export function fromEncryptedValue(value: string | undefined): { providerOptions?: ProviderOptions } {
  const parsed = parseJson(value ?? '')
  return isProviderOptions(parsed) ? { providerOptions: parsed } : {}
}

function isProviderOptions(value: unknown): value is ProviderOptions {
  return isRecord(value) && Object.values(value).every(isRecord)
}
