import type { Checkpoint, CheckpointStore } from '../agents/index.js'

const maxThreads = 1000

/** Checkpoints in memory, of the threads that were last paused. Those beyond the limit are forgotten, oldest first. */
export function createMemoryCheckpoints(limit = maxThreads): CheckpointStore {
  const kept = new Map<string, Checkpoint>()
  return {
    load: (threadId) => Promise.resolve(kept.get(threadId)),
    save(threadId, checkpoint) {
      // Taken out first, so that it is the newest.
      kept.delete(threadId)
      kept.set(threadId, checkpoint)
      for (const oldest of kept.keys()) {
        if (kept.size <= limit) break
        kept.delete(oldest)
      }
      return Promise.resolve()
    },
  }
}
