import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClient, deferred, ofType, resultsIn, settled } from '../../../../test/support/run-agent.js'
import { runToEnd, toolContext } from '../../../../test/support/tool-context.js'
import { scriptedModel } from '../../../models/index.js'
import type { RunContext, Tool, ToolContext } from '../../contract.js'
import { defineAgent } from '../../chat/chat-agent.js'
import { fileWorkspace, type FileWorkspaceOptions } from './file-workspace.js'
import type { Files } from './files.js'
import { stateFiles } from './state-files.js'

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'millrace-workspace-'))
  await put('readme.md', '# Title\nsome text\nTODO: more\n')
  await put('src/a.ts', 'const a = 1\n// todo: b\n')
  await put('src/deep/b.ts', 'const b = 2\n')
  await put('node_modules/c.ts', 'const c = 3\n')
  await put('image.png', 'const\0')
})

afterEach(() => rm(root, { recursive: true }))

async function put(path: string, text: string): Promise<void> {
  await mkdir(join(root, path, '..'), { recursive: true })
  await writeFile(join(root, path), text)
}

async function toolsOf(options: Partial<FileWorkspaceOptions> = {}): Promise<Tool[]> {
  const middleware = fileWorkspace({ root, ...options } as FileWorkspaceOptions)
  const setup = await middleware.onStart?.({ instructions: '', tools: [] }, {} as RunContext)
  return (setup?.tools ?? []) as Tool[]
}

type CallOptions = Partial<FileWorkspaceOptions> & { readonly ctx?: ToolContext }

/** What the model gets when it calls a tool of the workspace. */
async function call(name: string, args: unknown, { ctx = toolContext(), ...options }: CallOptions = {}) {
  const tool = (await toolsOf(options)).find((one) => one.name === name)
  if (!tool) throw new Error(`There is no tool '${name}'.`)
  return (await runToEnd(tool.call(args, ctx))).result
}

const failure = (message: RegExp) =>
  expect.objectContaining({ code: 'TOOL_ERROR', message: expect.stringMatching(message) as string }) as Error

describe('ls', () => {
  test('gives names, with marks for folders and links', async () => {
    await symlink('readme.md', join(root, 'link'))
    expect(await call('ls', {})).toBe('image.png\nlink@\nnode_modules/\nreadme.md\nsrc/')
    expect(await call('ls', { path: './src/' })).toBe('a.ts\ndeep/')
  })

  test('gives a part of many', async () => {
    expect(await call('ls', { offset: 1, limit: 1 })).toBe(
      'node_modules/\n[There are more. Go on with offset 2.]',
    )
    expect(await call('ls', { limit: 100 }, { maxResults: 1 })).toContain('Go on with offset 1')
  })

  test('says when a folder is empty or not there', async () => {
    await mkdir(join(root, 'empty'))
    expect(await call('ls', { path: 'empty' })).toBe('[There is nothing here.]')
    await expect(call('ls', { path: 'none' })).rejects.toThrow(failure(/There is no folder 'none'/))
  })
})

describe('read_file', () => {
  test('numbers the lines', async () => {
    expect(await call('read_file', { path: 'readme.md', offset: 2, limit: 1 })).toBe(
      '     2\tsome text\n[Lines 2 to 2 of 3. Go on with offset 3.]',
    )
  })

  test('gives 2,000 lines at once and no more', async () => {
    await put('long.txt', 'x\n'.repeat(3_000))
    for (const more of [{}, { limit: 9_999 }])
      expect(await call('read_file', { path: 'long.txt', ...more })).toMatch(/\[Lines 1 to 2000 of 3000\./)
  })

  test.each([
    [{ path: 'image.png' }, /is not text/],
    [{ path: 'src' }, /is a folder/],
    [{ path: 'none' }, /There is no file 'none'/],
    [{ path: '../x' }, /'\.\.'/],
    [{ path: '/etc/passwd' }, /absolute/],
    [{ path: '' }, /empty/],
  ])('refuses %o', async (args, reason) => {
    await expect(call('read_file', args)).rejects.toThrow(failure(reason))
  })

  test.each([{}, { path: 1 }, { path: 'a', offset: 0 }, { path: 'a', limit: 1.5 }, { path: 'a', more: 1 }])(
    'does not take %o',
    async (args) => {
      await expect(call('read_file', args)).rejects.toMatchObject({ code: 'INVALID_TOOL_ARGUMENTS' })
    },
  )

  test('does not read what is too large', async () => {
    await expect(call('read_file', { path: 'readme.md' }, { maxFileBytes: 5 })).rejects.toThrow(
      failure(/too large/),
    )
  })
})

describe('write_file', () => {
  test('makes folders, and says what it did', async () => {
    expect(await call('write_file', { path: 'new/deep/a.md', content: 'one\ntwo' })).toBe(
      "Wrote 2 lines to 'new/deep/a.md'.",
    )
    expect(await readFile(join(root, 'new/deep/a.md'), 'utf8')).toBe('one\ntwo')
  })

  test('does not write what is too large', async () => {
    const written = call('write_file', { path: 'a', content: 'éé' }, { maxFileBytes: 3 })
    await expect(written).rejects.toThrow(failure(/would have 4 bytes/))
  })
})

describe('edit_file', () => {
  const edit = { path: 'src/a.ts', old_string: 'a = 1', new_string: 'a = 2' }

  test('replaces one place', async () => {
    expect(await call('edit_file', edit)).toBe("Changed 1 place in 'src/a.ts'.")
    expect(await readFile(join(root, 'src/a.ts'), 'utf8')).toBe('const a = 2\n// todo: b\n')
  })

  test('replaces all places when told', async () => {
    const args = { path: 'src/a.ts', old_string: 'o', new_string: '0', replace_all: true }
    expect(await call('edit_file', args)).toBe("Changed 3 places in 'src/a.ts'.")
  })

  test.each([
    [{ old_string: 'none' }, /not there/],
    [{ old_string: 'o' }, /3 times/],
    [{ path: 'image.png' }, /not text/],
    [{ path: 'none.ts' }, /no file/],
  ])('refuses %o, and leaves the file as it is', async (changes, reason) => {
    await expect(call('edit_file', { ...edit, ...changes })).rejects.toThrow(failure(reason))
    expect(await readFile(join(root, 'src/a.ts'), 'utf8')).toBe('const a = 1\n// todo: b\n')
  })

  test('makes several edits of one file one after the other', async () => {
    const letters = 'abcdefghij'
    await put('letters', letters)
    const tools = await toolsOf()
    const tool = tools.find(({ name }) => name === 'edit_file')
    const edits = Array.from(letters, (letter) =>
      runToEnd(
        tool?.call(
          { path: './letters', old_string: letter, new_string: letter.toUpperCase() },
          toolContext(),
        ),
      ),
    )
    await Promise.all(edits)
    expect(await readFile(join(root, 'letters'), 'utf8')).toBe('ABCDEFGHIJ')
  })
})

test('what waits for its turn is not written when the run is cancelled', async () => {
  const controller = new AbortController()
  const gate = deferred()
  const written: string[] = []
  const backend: Files = {
    ...stateFiles(),
    async write(path, text) {
      written.push(text)
      await gate.promise
    },
  }
  const tool = (await toolsOf({ root: undefined, backend })).find(({ name }) => name === 'write_file')
  const [first, second] = ['one', 'two'].map((content) =>
    runToEnd(tool?.call({ path: 'a', content }, toolContext({ signal: controller.signal }))),
  )
  await settled()
  controller.abort(new Error('cancelled'))
  gate.resolve()
  await first
  await expect(second).rejects.toThrow('cancelled')
  expect(written).toEqual(['one'])
})

describe('glob', () => {
  test.each([
    [{ pattern: '**/*.ts' }, 'src/a.ts\nsrc/deep/b.ts'],
    [{ pattern: '*.ts', path: 'src' }, 'src/a.ts'],
    [{ pattern: '*.md' }, 'readme.md'],
    [{ pattern: '*.css' }, '[No file fits *.css.]'],
    [{ pattern: '**', limit: 1, offset: 1 }, 'readme.md\n[There are more. Go on with offset 2.]'],
  ])('answers %o', async (args, expected) => {
    expect(await call('glob', args)).toBe(expected)
  })

  test('leaves out what it is told to', async () => {
    expect(await call('glob', { pattern: '**/*.ts' }, { ignore: ['src'] })).toBe('node_modules/c.ts')
  })
})

describe('grep', () => {
  test.each([
    [{ pattern: 'TODO', ignore_case: true }, 'readme.md\nsrc/a.ts'],
    [{ pattern: 'TODO' }, 'readme.md'],
    [
      { pattern: '^const (a|b)', output_mode: 'content' },
      'src/a.ts:1: const a = 1\nsrc/deep/b.ts:1: const b = 2',
    ],
    [{ pattern: 't', output_mode: 'count' }, 'readme.md: 2\nsrc/a.ts: 2\nsrc/deep/b.ts: 1'],
    [{ pattern: 'const', path: 'src/deep' }, 'src/deep/b.ts'],
    [{ pattern: 'const', path: 'src/a.ts', output_mode: 'count' }, 'src/a.ts: 1'],
    [{ pattern: 't', glob: 'b.*' }, 'src/deep/b.ts'],
    [{ pattern: 't', glob: 'src/*.ts' }, 'src/a.ts'],
    [{ pattern: 'nowhere' }, '[Nothing was found.]'],
  ])('answers %o', async (args, expected) => {
    const found = String(await call('grep', args))
    expect(found.replace(/\n\[Not searched.*image\.png\.\]/, '')).toBe(expected)
  })

  test('gives a part of many lines', async () => {
    const args = { pattern: '.', output_mode: 'content', path: 'readme.md', offset: 1, limit: 1 }
    expect(await call('grep', args)).toBe('readme.md:2: some text\n[There are more. Go on with offset 2.]')
  })

  test('says what it has not searched', async () => {
    await put('large.txt', 'x'.repeat(200))
    expect(await call('grep', { pattern: 'const a' }, { maxFileBytes: 100 })).toBe(
      'src/a.ts\n[Not searched, since too large, not text or not readable: image.png, large.txt.]',
    )
  })

  test('shows the beginning of a long line', async () => {
    await put('long.txt', `${'x'.repeat(600)}needle`)
    const found = await call('grep', { pattern: 'needle', output_mode: 'content' })
    expect(found).toContain(`long.txt:1: ${'x'.repeat(500)}... [cut]`)
  })

  test.each([
    [{ pattern: '(' }, /missing closing/],
    [{ pattern: 'x', path: 'none' }, /There is no file 'none'/],
    [{ pattern: 'x', glob: '{' }, /nothing closes/],
    [{ pattern: 'x', path: '..' }, /'\.\.'/],
  ])('refuses %o', async (args, reason) => {
    await expect(call('grep', args)).rejects.toThrow(failure(reason))
  })

  test('ends when the run is cancelled', async () => {
    await put('large.txt', 'some words\n'.repeat(30_000))
    const controller = new AbortController()
    const reason = new Error('cancelled')
    const searching = call('grep', { pattern: 'none' }, { ctx: toolContext({ signal: controller.signal }) })
    controller.abort(reason)
    await expect(searching).rejects.toBe(reason)
  })
})

describe('the tools', () => {
  const names = async (options: Partial<FileWorkspaceOptions>) =>
    (await toolsOf(options)).map(({ name }) => name)

  test('that write are left out of a workspace that is read only', async () => {
    expect(await names({ readOnly: true })).toEqual(['ls', 'read_file', 'glob', 'grep'])
    const backend: Files = {
      list: () => Promise.resolve([]),
      read: () => Promise.reject(new Error('no such file')),
    }
    expect(await names({ root: undefined, backend })).toEqual(['ls', 'read_file', 'glob', 'grep'])
  })

  test('get a prefix', async () => {
    expect(await names({ prefix: 'docs_', readOnly: true })).toContain('docs_read_file')
  })
})

test.each([{ root: ' ' }, { maxFileBytes: 0 }, { maxResults: 0.5 }, { prefix: 'no spaces ' }])(
  'the options %o are refused',
  (options) => {
    expect(() => fileWorkspace({ root, ...options })).toThrow(
      expect.objectContaining({ code: 'INVALID_AGENT' }),
    )
  },
)

describe('in an agent', () => {
  const use = (id: string, name: string, args: Record<string, unknown>) => ({ toolCall: { id, name, args } })

  test('files in the state are shown to the client, and are there in the next run', async () => {
    const model = scriptedModel([
      [use('c1', 'write_file', { path: 'plan.md', content: 'one' })],
      [
        use('c2', 'edit_file', { path: 'plan.md', old_string: 'one', new_string: 'two' }),
        use('c3', 'write_file', { path: 'b.md', content: 'B' }),
      ],
      'Done.',
      [use('c4', 'read_file', { path: 'plan.md' })],
      'It says two.',
    ])
    const middlewares = [fileWorkspace({ backend: stateFiles(), instructions: 'Keep plans in files.' })]
    const client = createClient(defineAgent({ name: 'planner', instructions: 'Plan.', model, middlewares }))
    const first = await client.say('Plan.')
    expect(first.outcome.state).toEqual({ files: { 'plan.md': 'two', 'b.md': 'B' } })
    expect(ofType(first.events, 'STATE_DELTA').flatMap(({ delta }) => delta)).toContainEqual({
      op: 'replace',
      path: '/files/plan.md',
      value: 'two',
    })
    expect(model.requests[0]?.instructions).toBe('Plan.\n\nKeep plans in files.')
    const second = await client.say('What does it say?')
    expect(resultsIn(second.events)).toEqual(['c4:      1\ttwo'])
  })

  test('what is refused is told to the model, and the run goes on', async () => {
    const model = scriptedModel([[use('c1', 'read_file', { path: '../secret' })], 'I may not.'])
    const client = createClient(
      defineAgent({ name: 'reader', model, middlewares: [fileWorkspace({ root })] }),
    )
    const { outcome, events } = await client.say('Read it.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'I may not.' })
    expect(resultsIn(events)).toEqual([
      `c1: Error: The path "../secret" has '..' in it, which is not allowed.`,
    ])
  })

  test('a folder that is not there ends the run at its start', async () => {
    const middlewares = [fileWorkspace({ root: join(root, 'none') })]
    const client = createClient(defineAgent({ name: 'reader', model: scriptedModel([]), middlewares }))
    const { outcome } = await client.say('Read.')
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'INVALID_AGENT' } })
  })
})
