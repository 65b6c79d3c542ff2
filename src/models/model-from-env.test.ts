import { describe, expect, test, vi } from 'vitest'
import { fakeLanguageModel } from '../../test/e2e/support-models-fake.js'
import { partsOf } from '../../test/e2e/support-models-parts.js'
import { modelFromEnv } from './model-from-env.js'

type Env = Readonly<Record<string, string | undefined>>

/** Fake packages of the AI SDK that record which models were created. */
function packages() {
  const made: unknown[] = []
  const create = (name: string) => (settings: object) => {
    const model = (api: string) => (modelId: string) => {
      made.push({ name, ...settings, api, modelId })
      return fakeLanguageModel(() => [], { provider: `${name}.${api}`, modelId })
    }
    return Object.assign(model('default'), { chat: model('chat') })
  }
  const exported: Record<string, unknown> = {
    '@ai-sdk/openai': { createOpenAI: create('openai') },
    '@ai-sdk/anthropic': { createAnthropic: create('anthropic') },
    '@ai-sdk/google': { createGoogleGenerativeAI: create('google') },
  }
  return { made, load: (name: string) => Promise.resolve(exported[name]) }
}

async function chosen(env: Env) {
  const { made, load } = packages()
  const log = vi.fn<(line: string) => void>()
  const model = await modelFromEnv({ env, log, load })
  return { model, made, lines: log.mock.calls.map(([line]) => line) }
}

describe('a key', () => {
  test.each<[Env, object]>([
    [{ OPENAI_API_KEY: 'k' }, { name: 'openai', apiKey: 'k', api: 'default', modelId: 'gpt-5-mini' }],
    [
      { ANTHROPIC_API_KEY: 'k' },
      { name: 'anthropic', apiKey: 'k', api: 'default', modelId: 'claude-haiku-4-5' },
    ],
    [
      { GOOGLE_GENERATIVE_AI_API_KEY: 'k', GEMINI_API_KEY: 'other' },
      { name: 'google', apiKey: 'k', api: 'default', modelId: 'gemini-flash-latest' },
    ],
    [
      { GEMINI_API_KEY: 'k' },
      { name: 'google', apiKey: 'k', api: 'default', modelId: 'gemini-flash-latest' },
    ],
    [{ OPENAI_API_KEY: ' ', GEMINI_API_KEY: 'k' }, { name: 'google' }],
    [{ ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' }, { name: 'openai' }],
  ])('chooses its provider: %j', async (env, expected) => {
    const { made, lines } = await chosen(env)
    expect(made).toMatchObject([expected])
    expect(lines).toEqual([expect.stringMatching(/^Using \w+\/[\w.-]+\.$/)])
  })
})

describe('a server of your own', () => {
  const env = { OPENAI_BASE_URL: 'http://localhost:11434/v1' }

  test('is spoken to in chat completions, and needs no key', async () => {
    const { made } = await chosen(env)
    expect(made).toEqual([
      { name: 'openai', apiKey: 'none', baseURL: env.OPENAI_BASE_URL, api: 'chat', modelId: 'gpt-5-mini' },
    ])
  })

  test('gets the key when there is one, and models whose ids have slashes', async () => {
    const { made } = await chosen({ ...env, OPENAI_API_KEY: 'k', MILLRACE_MODEL: 'qwen/qwen3-8b' })
    expect(made).toMatchObject([{ apiKey: 'k', modelId: 'qwen/qwen3-8b' }])
  })
})

describe('MILLRACE_MODEL', () => {
  const keys = { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a' }

  test.each<[string, object]>([
    ['anthropic/claude-opus-5', { name: 'anthropic', apiKey: 'a', modelId: 'claude-opus-5' }],
    [' openai/gpt-5 ', { name: 'openai', modelId: 'gpt-5' }],
    ['gpt-5-nano', { name: 'openai', modelId: 'gpt-5-nano' }],
    ['', { name: 'openai', modelId: 'gpt-5-mini' }],
    ['anthropic/', { name: 'anthropic', modelId: 'claude-haiku-4-5' }],
  ])('chooses: %j', async (wish, expected) => {
    expect((await chosen({ ...keys, MILLRACE_MODEL: wish })).made).toMatchObject([expected])
  })

  test('may be demo, whatever keys there are', async () => {
    const { model, made } = await chosen({ ...keys, MILLRACE_MODEL: 'demo' })
    expect(model.provider).toBe('demo')
    expect(made).toEqual([])
  })

  test.each([
    [
      'google/gemini-flash-latest',
      'Set GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY, or MILLRACE_MODEL=demo.',
    ],
    ['openai/gpt-5', 'Set OPENAI_API_KEY or OPENAI_BASE_URL, or'],
    ['gpt-5', 'Set OPENAI_API_KEY or OPENAI_BASE_URL or ANTHROPIC_API_KEY or'],
  ])('without a key for %s is an error that names the variables', async (wish, hint) => {
    const failed = modelFromEnv({ env: { MILLRACE_MODEL: wish } })
    await expect(failed).rejects.toMatchObject({ code: 'INVALID_AGENT' })
    await expect(failed).rejects.toThrow(`MILLRACE_MODEL is ${wish}, but there is no key for it. ${hint}`)
  })
})

describe('without any key', () => {
  test('it is the demo model, and says so', async () => {
    const { model, lines } = await chosen({})
    expect(model).toMatchObject({ provider: 'demo', modelId: 'demo' })
    expect(lines).toEqual([expect.stringMatching(/^Using the demo model.*OPENAI_API_KEY.*GEMINI_API_KEY/)])
  })

  test('it is the demo model at the given pace', async () => {
    const schedule = vi.fn()
    const model = await modelFromEnv({ env: {}, demo: { paceMs: 0, clock: { now: () => 0, schedule } } })
    expect((await partsOf(model)).length).toBeGreaterThan(1)
    expect(schedule).not.toHaveBeenCalled()
  })
})

describe('a package', () => {
  const env = { ANTHROPIC_API_KEY: 'k' }

  test('that is missing is an error that tells what to install', async () => {
    const cause = new Error('Cannot find package')
    const failed = modelFromEnv({ env, load: () => Promise.reject(cause) })
    await expect(failed).rejects.toMatchObject({
      code: 'INVALID_AGENT',
      message: '@ai-sdk/anthropic could not be loaded. Run: npm install @ai-sdk/anthropic',
      cause,
    })
  })

  test('that does not export what it should is the same', async () => {
    await expect(modelFromEnv({ env, load: () => Promise.resolve({}) })).rejects.toThrow(
      'npm install @ai-sdk/anthropic',
    )
  })

  test.each([
    [{ OPENAI_API_KEY: 'k' }, 'openai'],
    [{ ANTHROPIC_API_KEY: 'k' }, 'anthropic'],
    [{ GEMINI_API_KEY: 'k' }, 'google'],
  ])('that is installed is loaded: %j', async (keys, provider) => {
    expect(await modelFromEnv({ env: keys })).toMatchObject({ provider })
  })
})

test('the environment of the process is the default, and is read at the call', async () => {
  vi.stubEnv('MILLRACE_MODEL', 'demo')
  expect(await modelFromEnv()).toMatchObject({ provider: 'demo' })
  vi.stubEnv('MILLRACE_MODEL', 'google/gemini-x')
  vi.stubEnv('GEMINI_API_KEY', 'k')
  expect(await modelFromEnv()).toMatchObject({ provider: 'google', modelId: 'gemini-x' })
  vi.unstubAllEnvs()
})
