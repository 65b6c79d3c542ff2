import { mergeMetadata, type Metadata } from '@ag-ui/core'

/** Adds an event's metadata to the thing the event builds: key by key, the last write wins. */
export function addMetadata(target: { metadata?: Metadata }, event: { metadata?: Metadata }): void {
  if (event.metadata === undefined) return
  const merged = mergeMetadata(target.metadata, event.metadata)
  if (merged !== undefined) target.metadata = merged
}
