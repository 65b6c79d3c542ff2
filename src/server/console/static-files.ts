/** A file of the console's page. */
export interface StaticFile {
  readonly type: string
  /** Whether its name has a hash of its content in it: what is under that name never changes. */
  readonly isHashed: boolean
  /** The content by its encoding. */
  readonly variants: ReadonlyMap<Encoding, StaticContent>
}

interface StaticContent {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
}

type Encoding = 'identity' | 'gzip' | 'br'

/** The files of the console's page, by their paths below its folder. */
export interface StaticFiles {
  /** Undefined when there is no such file. Rejects when the folder cannot be read. */
  find(path: string): Promise<StaticFile | undefined>
}

/**
 * Where the build puts the page. The same from the sources and from the package. Not `new URL('…', import.meta.url)`, for which
 * bundlers look for a file.
 */
const builtFolder = new URL(import.meta.url.replace(/(?:[^/]+\/){3}[^/]+$/, 'dist/console/'))

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json',
  webmanifest: 'application/manifest+json',
  map: 'application/json',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  txt: 'text/plain; charset=utf-8',
}

const packed: Readonly<Record<string, Encoding>> = { '.gz': 'gzip', '.br': 'br' }
const hashedName = /^assets\/.*-[\w-]{8,}\.\w+$/

/**
 * Reads the folder at the first request, and again when its index.html has changed: a build may come while the server runs. A
 * request can only name what is in that list, so no path leads out of the folder. Nothing is read where the console is not used.
 */
export function createStaticFiles(folder: URL = builtFolder): StaticFiles {
  let known:
    { readonly changedAt: number; readonly files: Promise<ReadonlyMap<string, StaticFile>> } | undefined
  return {
    async find(path) {
      // Imported here: the rest of the server runs where there is no file system.
      const { stat } = await import('node:fs/promises')
      if (!known || path === 'index.html') {
        const { mtimeMs: changedAt } = await stat(new URL('index.html', folder))
        if (known?.changedAt !== changedAt) known = { changedAt, files: readFolder(folder) }
      }
      return (await known.files).get(path)
    },
  }
}

async function readFolder(folder: URL): Promise<ReadonlyMap<string, StaticFile>> {
  const { readFile, readdir } = await import('node:fs/promises')
  const nodePath = await import('node:path')
  const { fileURLToPath } = await import('node:url')
  const root = fileURLToPath(folder)
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      nodePath.relative(root, nodePath.join(entry.parentPath, entry.name)).split(nodePath.sep).join('/'),
    )
  const files = new Map<string, StaticFile>()
  for (const path of paths.filter((one) => packedAs(one) === undefined)) {
    const variants = new Map<Encoding, StaticContent>()
    for (const [suffix, encoding] of [['', 'identity'] as const, ...Object.entries(packed)])
      if (suffix === '' || paths.includes(path + suffix))
        variants.set(encoding, await withEtag(await readFile(nodePath.join(root, path + suffix))))
    const type = types[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
    files.set(path, { type, isHashed: hashedName.test(path), variants })
  }
  return files
}

function packedAs(path: string): Encoding | undefined {
  return packed[path.slice(-3)]
}

async function withEtag(content: Uint8Array): Promise<StaticContent> {
  const bytes = new Uint8Array(content)
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const hex = Array.from(digest.subarray(0, 12), (byte) => byte.toString(16).padStart(2, '0'))
  return { bytes, etag: `"${hex.join('')}"` }
}

/** The response with a file, in the best encoding that the client takes. 304 when the client has it. */
export function fileResponse(
  file: StaticFile,
  request: Request,
  headers: Readonly<Record<string, string>>,
): Response {
  const accepted = request.headers.get('accept-encoding') ?? ''
  const encoding = (['br', 'gzip'] as const).find((one) => file.variants.has(one) && accepts(accepted, one))
  const content = file.variants.get(encoding ?? 'identity')
  if (!content) throw new TypeError('A file has no content.')
  const { bytes, etag } = content
  const all = {
    ...headers,
    'content-type': file.type,
    etag,
    vary: 'accept-encoding',
    ...(encoding && { 'content-encoding': encoding }),
  }
  if (hasEtag(request.headers.get('if-none-match'), etag))
    return new Response(null, { status: 304, headers: all })
  return new Response(bytes, { headers: { ...all, 'content-length': String(bytes.byteLength) } })
}

function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

function hasEtag(header: string | null, etag: string): boolean {
  return header?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag) ?? false
}
