import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { createStaticFiles } from '../../src/server/console/static-files.js'
import { createServer } from '../../src/server/create-server.js'
import type { ServerOptions } from '../../src/server/index.js'
import { serve, type Serving } from '../../src/server/node.js'

const agent = defineAgent({ name: 'talker', model: scriptedModel(() => 'Fine.') })
const asset = 'assets/main-Dx81abQ_.js'
let folder: string
let open: Serving | undefined

beforeEach(async () => {
  const root = await mkdtemp(join(tmpdir(), 'console-'))
  folder = join(root, 'console')
  await mkdir(join(folder, 'assets'), { recursive: true })
  await writeFile(join(root, 'secret.txt'), 'secret')
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>one</title>')
  await writeFile(join(folder, 'favicon.svg'), '<svg/>')
  await writeFile(join(folder, asset), 'plain')
  await writeFile(join(folder, `${asset}.gz`), 'gzipped')
  await writeFile(join(folder, `${asset}.br`), 'brotli')
})

afterEach(async () => {
  await open?.close({ graceMs: 0 })
  open = undefined
  await rm(join(folder, '..'), { recursive: true, force: true })
})

async function served(options: Partial<ServerOptions> = {}): Promise<string> {
  const consoleFiles = createStaticFiles(pathToFileURL(`${folder}/`))
  const server = createServer({ agents: [agent], console: true, ...options }, { consoleFiles })
  open = await serve(server, { port: 0, signals: false })
  return open.url
}

/** A request exactly as it is written: `fetch` would tidy up the path, set the host and unpack the body. */
function raw(
  url: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers, method }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
      .on('error', reject)
      .end()
  })
}

describe('the page of the console', () => {
  it('is served below /console, never cached, and lets nothing of others in', async () => {
    const url = await served()
    const response = await fetch(`${url}/console/`)
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('<title>one</title>')
    const { headers } = response
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  })

  it('may speak to other endpoints only where that is allowed', async () => {
    const url = await served({ console: { foreign: true } })
    const { headers } = await fetch(`${url}/console/`)
    expect(headers.get('content-security-policy')).toContain("connect-src 'self' http: https:;")
  })

  it.each([
    ['', '/console', '/', '/console/'],
    ['', '/console', '/console', '/console/'],
    ['/api/ai', '/desk', '/api/ai', '/api/ai/desk/'],
    ['/api/ai', '/desk', '/api/ai/', '/api/ai/desk/'],
    ['/api/ai', '/desk', '/api/ai/desk', '/api/ai/desk/'],
  ])('with basePath "%s" and path "%s", %s leads to %s', async (basePath, path, from, to) => {
    const url = await served({ basePath, console: { path } })
    const response = await fetch(url + from)
    expect(new URL(response.url).pathname).toBe(to)
    expect(await response.text()).toContain('<title>one</title>')
  })

  it('gives its hashed files for ever, packed as the client takes them', async () => {
    const url = await served()
    const plain = await raw(url, `/console/${asset}`)
    expect(plain).toMatchObject({ status: 200, body: 'plain' })
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8')
    const gzip = await raw(url, `/console/${asset}`, { 'accept-encoding': 'gzip, br;q=0' })
    expect(gzip).toMatchObject({ body: 'gzipped', headers: { 'content-encoding': 'gzip' } })
    const brotli = await raw(url, `/console/${asset}`, { 'accept-encoding': 'gzip, deflate, br' })
    expect(brotli).toMatchObject({
      body: 'brotli',
      headers: { 'content-encoding': 'br', vary: 'accept-encoding' },
    })
    expect(brotli.headers.etag).not.toBe(gzip.headers.etag)
  })

  it('answers 304 to a client that has the file, and HEAD without a body', async () => {
    const url = await served()
    const { headers } = await raw(url, '/console/favicon.svg')
    expect(headers['cache-control']).toBe('no-store')
    const again = await raw(url, '/console/favicon.svg', {
      'if-none-match': `"x", W/${String(headers.etag)}`,
    })
    expect(again).toMatchObject({ status: 304, body: '' })
    const head = await raw(url, '/console/favicon.svg', {}, 'HEAD')
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-type': 'image/svg+xml' } })
  })

  it.each([
    '/console/../secret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/..%2fsecret.txt',
    '/console/%2e%2e%2fsecret.txt',
    '/console/assets/..%2f..%2f..%2fsecret.txt',
    '/console/..%5csecret.txt',
    '/console/%252e%252e/secret.txt',
    '/console//secret.txt',
    '/console/assets',
    '/console/assets/',
    '/console/index.html%00',
    `/console/${asset}.gz`,
    '/console/constructor',
  ])('has nothing at %s', async (path) => {
    const response = await raw(await served(), path)
    expect(response.status).toBe(404)
    expect(response.body).not.toContain('secret')
    expect(JSON.parse(response.body)).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })

  it('shows a new build without a restart', async () => {
    const url = await served()
    await fetch(`${url}/console/`)
    await writeFile(join(folder, 'index.html'), '<!doctype html><title>two</title>')
    await writeFile(join(folder, 'assets/other-abcdefgh.js'), 'new')
    await utimes(join(folder, 'index.html'), 1, 1)
    expect(await (await fetch(`${url}/console/`)).text()).toContain('two')
    expect(await (await fetch(`${url}/console/assets/other-abcdefgh.js`)).text()).toBe('new')
  })

  it('says how to build it when it was not', async () => {
    const url = await served()
    await rm(folder, { recursive: true })
    const response = await fetch(`${url}/console/`)
    expect(response.status).toBe(503)
    expect(await response.text()).toContain('npm run build')
  })

  it('is not shown under the name of another site to a browser on this machine', async () => {
    const url = await served()
    for (const path of ['/console/', `/console/${asset}`, '/', '/console/api/session', '/console/api/runs']) {
      const response = await raw(url, path, { host: 'evil.example.com' })
      expect(response.status).toBe(403)
      expect(response.body).toContain('FORBIDDEN_HOST')
    }
  })

  it('is public where the server knows its users: it holds no data', async () => {
    const url = await served({ identify: () => undefined })
    expect((await fetch(`${url}/console/`)).status).toBe(200)
    expect((await fetch(`${url}/agents`)).status).toBe(401)
  })

  it('is read only, and not there unless it is asked for', async () => {
    const url = await served()
    expect((await fetch(`${url}/console/`, { method: 'POST' })).status).toBe(405)
    await open?.close({ graceMs: 0 })
    const without = await served({ console: false })
    expect((await fetch(`${without}/console/`)).status).toBe(404)
    expect((await fetch(without)).status).toBe(405)
  })

  it.each([
    [{ path: 'console' }, 'console.path'],
    [{ path: '/console/' }, 'console.path'],
    [{ foreign: 'yes' }, 'console.foreign'],
    [{ title: 'x' }, 'console.title'],
  ])('refuses the options %j', async (option, name) => {
    await expect(served({ console: option as never })).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      details: { option: name },
    })
  })
})
