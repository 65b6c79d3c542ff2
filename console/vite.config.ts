import { defineConfig } from 'vite'

export default defineConfig({
  // The server mounts the page under any path.
  base: './',
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    // A strict content security policy allows no data: scripts, and small files inside others.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
  server: { proxy: { '/console/api': 'http://127.0.0.1:4111', '/agents': 'http://127.0.0.1:4111' } },
})
