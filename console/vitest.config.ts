import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['tests/*.test.ts'],
    globalSetup: ['tests/find-browser.ts'],
    // Ends those that fail: tests wait for conditions.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: '100%',
    watch: false,
  },
})
