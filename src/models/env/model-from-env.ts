import { MillraceError } from '../../core/errors.js'
import { fromAiSdk } from '../ai-sdk/from-ai-sdk.js'
import type { AiSdkLanguageModel } from '../ai-sdk/language-model.js'
import { demoModel, type DemoModelOptions } from '../demo/demo-model.js'
import { isRecord } from '../../core/is-record.js'
import type { Model } from '../model.js'
import { chooseModel, type ModelChoice } from './choose-model.js'
import { firstSet, providers, variablesOf, type Env } from './providers.js'

export interface ModelFromEnvOptions {
  /** Default: the environment of the process, read when this is called; empty where there is none. */
  readonly env?: Env
  /** Gets a line that says which model it is, and later what did not reach it. Must not throw. */
  readonly log?: (line: string) => void
  readonly demo?: DemoModelOptions
  /** Loads a package by its name. Default: `import()`. */
  readonly load?: (packageName: string) => Promise<unknown>
}

/**
 * The model that the environment asks for: of OpenAI, Anthropic or Google when there is a key for it, of a server of
 * your own when `OPENAI_BASE_URL` is set, else the demo model. `MILLRACE_MODEL`, for example `openai/gpt-5-mini`,
 * chooses. The package of the provider is loaded on demand and must be installed.
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

/** What the packages of the AI SDK export. */
type Factory = (settings: { readonly apiKey?: string; readonly baseURL?: string }) => Provider

interface Provider {
  (modelId: string): AiSdkLanguageModel
  chat(modelId: string): AiSdkLanguageModel
}

async function createModel(
  { provider: { packageName, factory, keys, baseUrl }, modelId }: NonNullable<ModelChoice>,
  env: Env,
  load: (packageName: string) => Promise<unknown>,
): Promise<AiSdkLanguageModel> {
  const exported = await load(packageName).catch((cause: unknown) => {
    throw cannotLoad(packageName, cause)
  })
  if (!isRecord(exported) || typeof exported[factory] !== 'function') throw cannotLoad(packageName)
  // The table names it: this is what every version of the package exports under that name.
  const create = exported[factory] as Factory
  const baseURL = baseUrl && firstSet([baseUrl], env)
  const apiKey = firstSet(keys, env) ?? 'none'
  // Other servers speak chat completions, few of them the newer API that is the default.
  return baseURL === undefined ? create({ apiKey })(modelId) : create({ apiKey, baseURL }).chat(modelId)
}

function cannotLoad(packageName: string, cause?: unknown): MillraceError {
  return new MillraceError(
    'INVALID_AGENT',
    `${packageName} could not be loaded. Run: npm install ${packageName}`,
    {
      ...(cause !== undefined && { cause }),
    },
  )
}

function importPackage(packageName: string): Promise<unknown> {
  // Not a literal, so that bundlers do not ask for packages nobody uses.
  return import(/* webpackIgnore: true */ /* @vite-ignore */ packageName)
}

function processEnv(): Env {
  // Not every runtime has it.
  const { process } = globalThis as { readonly process?: { readonly env?: Env } }
  return process?.env ?? {}
}
