import type { BaseToolset } from '@google/adk'
import { overlay } from '../overlay.js'

/** How many runs use a toolset, over all trees of the process. */
const uses = new WeakMap<BaseToolset, number>()

/** Toolsets in use by one run. */
export interface ToolsetLeases {
  /** What stands for a toolset in the tree of the run: the same, except that nobody closes it. */
  readonly take: (toolset: BaseToolset) => BaseToolset
  /** Closes the toolsets that no other run uses. Errors of theirs are nobody's: the run is over. */
  readonly giveBack: () => Promise<void>
}

/** ADK closes all toolsets of a tree after each run, also under other runs that use them. Here the last one does. */
export function createToolsetLeases(): ToolsetLeases {
  const taken = new Map<BaseToolset, BaseToolset>()
  return {
    take(toolset) {
      const known = taken.get(toolset)
      if (known) return known
      uses.set(toolset, (uses.get(toolset) ?? 0) + 1)
      const shield = overlay(toolset, { close: leaveOpen })
      taken.set(toolset, shield)
      return shield
    },
    async giveBack() {
      const toolsets = [...taken.keys()]
      taken.clear()
      await Promise.allSettled(toolsets.map(release))
    },
  }
}

async function release(toolset: BaseToolset): Promise<void> {
  const left = (uses.get(toolset) ?? 1) - 1
  uses.set(toolset, left)
  if (left === 0) await toolset.close()
}

const leaveOpen = () => Promise.resolve()
