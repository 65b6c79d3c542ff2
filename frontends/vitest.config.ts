import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['frontends/tests/*.test.ts'],
    // For a machine that has much else to do: tests wait for conditions, and these only end those that fail.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: '100%',
    // Other people's pages have races of their own. What fails twice is broken.
    retry: 1,
    watch: false,
  },
})
