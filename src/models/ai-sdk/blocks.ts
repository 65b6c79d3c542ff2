import type { ModelPart } from '../model.js'
import { toEncryptedValue } from './encrypted-value.js'
import type { ProviderOptions } from './language-model.js'
import type { BlockPart } from './provider-part.js'

type Kind = 'text' | 'reasoning'

interface Block {
  readonly kind: Kind
  /** What the provider has begun and not ended. OpenAI may end the parts of a summary only after the last one. */
  readonly ids: Set<string>
  lastId: string
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
 * At most one block is open: one of the other kind ends it, one of the same kind joins it as a new paragraph. The last
 * metadata that the provider gives for a block becomes its encrypted value.
 */
export function createBlocks(): Blocks {
  let open: Block | undefined

  function close(): ModelPart[] {
    const block = open
    open = undefined
    return block === undefined ? [] : endOf(block)
  }

  function enter({ kind, id }: { kind: Kind; id: string }, out: ModelPart[]): Block {
    if (open?.kind === kind) {
      open.ids.add(id)
      return open
    }
    out.push(...close())
    return (open = { kind, ids: new Set([id]), lastId: id, hasText: false, metadata: undefined })
  }

  function leave(kind: Kind, { id, providerMetadata }: BlockPart): ModelPart[] {
    const block = open
    if (block?.kind !== kind || !block.ids.delete(id)) {
      // Something else has ended it. Only what is still news is told: reasoning may stand there encrypted alone.
      return kind === 'reasoning' && providerMetadata !== undefined
        ? [...close(), { type: 'reasoning-end', ...toEncryptedValue(providerMetadata) }]
        : []
    }
    block.metadata = providerMetadata ?? block.metadata
    return block.ids.size === 0 ? close() : []
  }

  return {
    close,
    step(part) {
      const kind = part.type.startsWith('text') ? 'text' : 'reasoning'
      if (part.type === 'text-end' || part.type === 'reasoning-end') return leave(kind, part)
      const out: ModelPart[] = []
      const block = enter({ kind, id: part.id }, out)
      block.metadata = part.providerMetadata ?? block.metadata
      if (!('delta' in part) || part.delta === '') return out
      if (block.hasText && block.lastId !== part.id) out.push({ type: `${kind}-delta`, delta: '\n\n' })
      block.hasText = true
      block.lastId = part.id
      out.push({ type: `${kind}-delta`, delta: part.delta })
      return out
    },
  }
}

function endOf({ kind, hasText, metadata }: Block): ModelPart[] {
  const end = { type: `${kind}-end`, ...toEncryptedValue(metadata) } as const
  return hasText || (kind === 'reasoning' && 'encryptedValue' in end) ? [end] : []
}
