/** Environment variables. */
export type Env = Readonly<Record<string, string | undefined>>

/** How a provider is recognised in the environment, and which package speaks to it. */
export interface EnvProvider {
  readonly name: string
  /** The first that is set is the key. */
  readonly keys: readonly string[]
  /** An address of its own, for servers that speak the same language. They may need no key. */
  readonly baseUrl?: string
  readonly defaultModel: string
  readonly packageName: string
  /** The export of the package that makes the provider. */
  readonly factory: string
}

/** In order of preference when several have a key. */
export const providers: readonly EnvProvider[] = [
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

/** The variables that make a provider usable. */
export function variablesOf({ keys, baseUrl }: EnvProvider): string[] {
  return baseUrl === undefined ? [...keys] : [...keys, baseUrl]
}

/** Whether the environment has what a provider needs. */
export function isUsable(provider: EnvProvider, env: Env): boolean {
  return variablesOf(provider).some((name) => isSet(env[name]))
}

/** The value of the first of these variables that is set. An empty one is not. */
export function firstSet(names: readonly string[], env: Env): string | undefined {
  return names.map((name) => env[name]).find(isSet)
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== ''
}
