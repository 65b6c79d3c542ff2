import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['frontends/tests/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: '100%',
    watch: false,
  },
})
