import { describe } from 'vitest'
import { describeChanged } from './store-contract/changed.js'
import { describeCommits } from './store-contract/commits.js'
import { describeFencing } from './store-contract/fencing.js'
import { describeForks } from './store-contract/forks.js'
import { describeKeys } from './store-contract/keys.js'
import { describeLabels } from './store-contract/labels.js'
import { describeLastEvents } from './store-contract/last-events.js'
import { describeLeases } from './store-contract/leases.js'
import { describeLists } from './store-contract/lists.js'
import { describeLog } from './store-contract/log.js'
import { describeMessages } from './store-contract/messages.js'
import { describeModel } from './store-contract/model.js'
import { describePersistence } from './store-contract/persistence.js'
import { createRig, type OpenStore } from './store-contract/rig.js'
import { describeRuns } from './store-contract/runs.js'
import { describeSharing } from './store-contract/sharing.js'
import { describeVersions } from './store-contract/versions.js'

/**
 * Tests every sentence of the contract of a `Store`. Call it at the top of a test file, once for each store. `open` makes an
 * empty store for each test, with its time from `clock`. A store that outlives its process must keep its data when it is
 * opened again, and several processes must be able to open it.
 */
export function describeStoreContract(
  name: string,
  open: OpenStore,
  { outlivesProcess }: { readonly outlivesProcess: boolean },
): void {
  describe(name, () => {
    const rig = createRig(open)
    describeCommits(rig)
    describeVersions(rig)
    describeMessages(rig)
    describeForks(rig)
    describeRuns(rig)
    describeKeys(rig)
    describeLists(rig)
    describeLabels(rig)
    describeLeases(rig)
    describeFencing(rig)
    describeLog(rig)
    describeLastEvents(rig)
    describeChanged(rig)
    if (outlivesProcess) {
      describePersistence(rig)
      describeSharing(rig)
    }
    describeModel(rig)
  })
}
