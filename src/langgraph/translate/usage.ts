import { tokenUsageFromLangChainMetadata, type TokenUsage } from '@ag-ui/core'
import { mergeUsageMetadata, type BaseMessage, type UsageMetadata } from '@langchain/core/messages'

/** What one call of a model has used, as far as it is known. */
export interface Bill {
  readonly provider: string | undefined
  readonly model: string | undefined
  /** The sum of what the pieces of its answer have said. */
  usage: UsageMetadata | undefined
}

/** Pieces each tell a share: the input first, the output last, for example. */
export function noteUsage(bill: Bill, usage: UsageMetadata): void {
  bill.usage = bill.usage ? mergeUsageMetadata(bill.usage, usage) : usage
}

/** The bill in the terms of AG-UI. The whole answer knows best. Undefined when nothing is known. */
export function toTokenUsage(bill: Bill, whole: BaseMessage | undefined): TokenUsage | undefined {
  const { usage_metadata: usage = bill.usage } = (whole ?? {}) as { usage_metadata?: UsageMetadata }
  const provider = bill.provider ?? textIn(whole, 'model_provider')
  const model = bill.model ?? textIn(whole, 'model_name') ?? textIn(whole, 'model')
  return tokenUsageFromLangChainMetadata(usage, {
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
  })
}

function textIn(whole: BaseMessage | undefined, key: string): string | undefined {
  const value: unknown = whole?.response_metadata[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}
