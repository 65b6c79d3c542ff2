import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    setupFiles: ['test/setup.ts'],
    // Test files share a process and its modules, which halves the time: they leave nothing behind.
    isolate: false,
    maxWorkers: '100%',
    // One command for both: `npm run test:unit` runs once, `npm run test:unit -- --watch` stays.
    watch: false,
  },
})
