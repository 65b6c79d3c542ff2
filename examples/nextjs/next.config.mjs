import { join } from 'node:path'

const repository = join(import.meta.dirname, '..', '..')

/** @type {import('next').NextConfig} */
export default {
  // Stores have native code, which is not bundled.
  serverExternalPackages: ['millrace'],
  // Only here, where the package is linked from the repository.
  turbopack: { root: repository },
  outputFileTracingRoot: repository,
  devIndicators: false,
}
