import type { ModelPart } from '../model.js'
import { toEncryptedValue } from './encrypted-value.js'
import type { ProviderOptions } from './language-model.js'
import type { BlockPart } from './provider-part.js'

type Kind = 'text' | 'reasoning'

interface Block {
  readonly kind: Kind
  readonly id: string
  hasText: boolean
  metadata: ProviderOptions | undefined
}

/** The texts and the reasoning of one answer. */
export interface Blocks {
  step(part: BlockPart): ModelPart[]
  /** Ends what is open, because something else begins. */
  close(): ModelPart[]
}

/**
 * At most one block is open: the next one ends it. The last metadata that the provider gives for a block becomes its
 * encrypted value. A block without a word is not told, unless it is reasoning that is only told encrypted.
 */
export function createBlocks(): Blocks {
  let open: Block | undefined

  function close(): ModelPart[] {
    const block = open
    open = undefined
    if (block === undefined) return []
    const end = { type: `${block.kind}-end`, ...toEncryptedValue(block.metadata) } as const
    return block.hasText || (block.kind === 'reasoning' && 'encryptedValue' in end) ? [end] : []
  }

  function enter({ kind, id }: { kind: Kind; id: string }, parts: ModelPart[]): Block {
    if (open?.kind === kind && open.id === id) return open
    parts.push(...close())
    return (open = { kind, id, hasText: false, metadata: undefined })
  }

  function end(kind: Kind, { id, providerMetadata }: BlockPart): ModelPart[] {
    if (open?.kind === kind && open.id === id) {
      open.metadata = providerMetadata ?? open.metadata
      return close()
    }
    // Another has ended it already. What is still to tell of reasoning stands alone.
    const encrypted = kind === 'reasoning' ? toEncryptedValue(providerMetadata) : {}
    return 'encryptedValue' in encrypted ? [...close(), { type: 'reasoning-end', ...encrypted }] : []
  }

  return {
    close,
    step(part) {
      const kind = part.type.startsWith('text') ? 'text' : 'reasoning'
      if (part.type === 'text-end' || part.type === 'reasoning-end') return end(kind, part)
      const parts: ModelPart[] = []
      const block = enter({ kind, id: part.id }, parts)
      block.metadata = part.providerMetadata ?? block.metadata
      if ('delta' in part && part.delta !== '') {
        block.hasText = true
        parts.push({ type: `${kind}-delta`, delta: part.delta })
      }
      return parts
    },
  }
}
