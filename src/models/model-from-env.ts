import { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/json.js'
import { fromAiSdk } from './ai-sdk/from-ai-sdk.js'
import type { AiSdkLanguageModel } from './ai-sdk/specification.js'
import type { Model } from './contract.js'
import { demoModel, type DemoModelOptions } from './demo/demo-model.js'

export interface ModelFromEnvOptions {
  /** Default: the environment of the process at the time of the call; empty where there is none. */
  readonly env?: Env
  /** Called with one line that names the chosen model, and later with the warnings of `fromAiSdk`. Must not throw. */
  readonly log?: (line: string) => void
  readonly demo?: DemoModelOptions
  /** Loads a package by its name. Default: `import()`. */
  readonly load?: (packageName: string) => Promise<unknown>
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Chooses a model by environment variables: one of OpenAI, Anthropic or Google if its key is set, one of your own
 * server if `OPENAI_BASE_URL` is set, else the demo model. `MILLRACE_MODEL` overrides the choice, for example
 * `openai/gpt-5-mini`. The provider's package is loaded on demand and must be installed.
 */
export async function modelFromEnv({
  env = processEnv(),
  log = () => undefined,
  demo,
  load = importPackage,
}: ModelFromEnvOptions = {}): Promise<Model> {
  const choice = chooseModel(env)
  if (choice === undefined) {
    const names = providers.flatMap(variablesOf).join(', ')
    log(`Using the demo model, which only follows a few rules. For a real one set one of ${names}.`)
    return demoModel(demo)
  }
  const model = fromAiSdk(await createModel(choice, env, load), { onWarning: log })
  log(`Using ${choice.provider.name}/${choice.modelId}.`)
  return model
}

interface EnvProvider {
  readonly name: string
  /** Variables for the API key; the first that is set counts. */
  readonly keys: readonly string[]
  /** The variable for the address of a compatible server, which may need no key. */
  readonly baseUrl?: string
  readonly defaultModel: string
  readonly packageName: string
  /** The export of the package that creates the provider. */
  readonly factory: string
}

/** In order of preference if several have a key. */
const providers: readonly EnvProvider[] = [
  {
    name: 'openai',
    keys: ['OPENAI_API_KEY'],
    baseUrl: 'OPENAI_BASE_URL',
    defaultModel: 'gpt-5-mini',
    packageName: '@ai-sdk/openai',
    factory: 'createOpenAI',
  },
  {
    name: 'anthropic',
    keys: ['ANTHROPIC_API_KEY'],
    defaultModel: 'claude-haiku-4-5',
    packageName: '@ai-sdk/anthropic',
    factory: 'createAnthropic',
  },
  {
    name: 'google',
    keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    defaultModel: 'gemini-flash-latest',
    packageName: '@ai-sdk/google',
    factory: 'createGoogleGenerativeAI',
  },
]

interface ModelChoice {
  readonly provider: EnvProvider
  readonly modelId: string
}

/**
 * `MILLRACE_MODEL` is `provider/model`, a model of the first provider that has a key, or `demo`. Without it, the first
 * provider that has a key is used with its default model. Undefined for the demo model.
 */
function chooseModel(env: Env): ModelChoice | undefined {
  const requested = firstValue(['MILLRACE_MODEL'], env)?.trim()
  if (requested === 'demo') return undefined
  // Model ids may contain slashes too: only a provider's name before the first slash counts.
  const named = providers.find(({ name }) => requested?.startsWith(`${name}/`))
  const provider = named ?? providers.find((candidate) => isUsable(candidate, env))
  if (provider === undefined && requested === undefined) return undefined
  if (provider === undefined || !isUsable(provider, env)) throw missingKey(requested ?? '', provider)
  const modelId = named === undefined ? requested : requested?.slice(named.name.length + 1)
  return { provider, modelId: modelId === undefined || modelId === '' ? provider.defaultModel : modelId }
}

function missingKey(requested: string, provider: EnvProvider | undefined): MillraceError {
  const names = (provider === undefined ? providers : [provider]).flatMap(variablesOf)
  return new MillraceError(
    'INVALID_AGENT',
    `MILLRACE_MODEL is ${requested}, but there is no key for it. Set ${names.join(' or ')}, or MILLRACE_MODEL=demo.`,
  )
}

/** The variables of which one must be set to use a provider. */
function variablesOf({ keys, baseUrl }: EnvProvider): string[] {
  return baseUrl === undefined ? [...keys] : [...keys, baseUrl]
}

function isUsable(provider: EnvProvider, env: Env): boolean {
  return firstValue(variablesOf(provider), env) !== undefined
}

/** The value of the first variable that is set and not blank. */
function firstValue(names: readonly string[], env: Env): string | undefined {
  return names.map((name) => env[name]).find((value) => value !== undefined && value.trim() !== '')
}

/** What the AI SDK's provider packages export. */
type ProviderFactory = (settings: { readonly apiKey?: string; readonly baseURL?: string }) => {
  (modelId: string): AiSdkLanguageModel
  chat(modelId: string): AiSdkLanguageModel
}

async function createModel(
  { provider: { packageName, factory, keys, baseUrl }, modelId }: ModelChoice,
  env: Env,
  load: (packageName: string) => Promise<unknown>,
): Promise<AiSdkLanguageModel> {
  const exported = await load(packageName).catch((cause: unknown) => {
    throw cannotLoad(packageName, { cause })
  })
  if (!isRecord(exported) || typeof exported[factory] !== 'function') throw cannotLoad(packageName)
  // Every version of the package exports this function under the name in the table.
  const create = exported[factory] as ProviderFactory
  const baseURL = baseUrl && firstValue([baseUrl], env)
  const apiKey = firstValue(keys, env) ?? 'none'
  // Compatible servers speak chat completions; few of them speak the newer API that is the default.
  return baseURL === undefined ? create({ apiKey })(modelId) : create({ apiKey, baseURL }).chat(modelId)
}

function cannotLoad(packageName: string, options?: { readonly cause: unknown }): MillraceError {
  const text = `${packageName} could not be loaded. Run: npm install ${packageName}`
  return new MillraceError('INVALID_AGENT', text, options)
}

function importPackage(packageName: string): Promise<unknown> {
  // Not a literal, so that bundlers do not look for unused packages.
  return import(/* webpackIgnore: true */ /* @vite-ignore */ packageName)
}

function processEnv(): Env {
  // Some runtimes have no `process`.
  const { process } = globalThis as { readonly process?: { readonly env?: Env } }
  return process?.env ?? {}
}
