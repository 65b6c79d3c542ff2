type Work = () => unknown

const works: Work[] = []

/**
 * Does something after each test, for modules that test files share. `afterEach` there would hold for the file alone that
 * imports the module first: files share a process and its modules.
 */
export function afterEachTest(work: Work): void {
  works.push(work)
}

/** Does all of it, the latest first. For the setup, which runs once for each file. */
export async function finishTest(): Promise<void> {
  const failures: unknown[] = []
  for (const work of works.toReversed()) {
    try {
      await work()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('\n'))
}
