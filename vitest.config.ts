import { createRequire } from 'node:module'
import { defineConfig } from 'vitest/config'

const react18 = createRequire(new URL('./test/react-18/package.json', import.meta.url))

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    setupFiles: ['test/setup.ts'],
    // Test files share a process and its modules, which halves the time: they leave nothing behind.
    isolate: false,
    maxWorkers: '100%',
    // One command for both: `npm run test:unit` runs once, `npm run test:unit -- --watch` stays.
    watch: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'millrace',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          env: { REACT_MAJOR: '19' },
        },
      },
      {
        extends: true,
        resolve: {
          alias: ['react-dom/client', 'react-dom/server', 'react'].map((find) => ({
            find,
            replacement: react18.resolve(find),
          })),
        },
        test: { name: 'react-18', include: ['src/client/react/*.test.ts'], env: { REACT_MAJOR: '18' } },
      },
    ],
  },
})
