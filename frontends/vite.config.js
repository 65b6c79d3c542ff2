import { join } from 'node:path'
import { defineConfig } from 'vite'

const pages = join(import.meta.dirname, 'pages')
const names = ['copilotkit', 'copilotkit-v2', 'copilotkit-alone', 'dojo', 'assistant-ui', 'tanstack']

export default defineConfig({
  root: pages,
  base: './',
  logLevel: 'error',
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    minify: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: Infinity,
    rolldownOptions: { input: names.map((name) => join(pages, name, 'index.html')) },
  },
})
