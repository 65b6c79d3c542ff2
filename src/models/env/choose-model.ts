import { MillraceError } from '../../core/errors.js'
import { firstSet, isUsable, providers, variablesOf, type Env, type EnvProvider } from './providers.js'

/** A provider and one of its models; undefined for the demo model. */
export type ModelChoice = { readonly provider: EnvProvider; readonly modelId: string } | undefined

/**
 * Reads the environment. `MILLRACE_MODEL` is `provider/model`, a model of the first provider that has a key, or
 * `demo`. Without it, the first provider that has a key answers with its default model.
 */
export function chooseModel(env: Env): ModelChoice {
  const wish = firstSet(['MILLRACE_MODEL'], env)?.trim()
  if (wish === 'demo') return undefined
  // Ids of models may have slashes too: only the name of a provider before the first one counts.
  const named = providers.find(({ name }) => wish?.startsWith(`${name}/`))
  const provider = named ?? providers.find((candidate) => isUsable(candidate, env))
  if (provider === undefined && wish === undefined) return undefined
  if (provider === undefined || !isUsable(provider, env)) throw noKey(wish ?? '', provider)
  const modelId = named === undefined ? wish : wish?.slice(named.name.length + 1)
  return { provider, modelId: modelId === undefined || modelId === '' ? provider.defaultModel : modelId }
}

function noKey(wish: string, provider: EnvProvider | undefined): MillraceError {
  const names = (provider === undefined ? providers : [provider]).flatMap(variablesOf)
  return new MillraceError(
    'INVALID_AGENT',
    `MILLRACE_MODEL is ${wish}, but there is no key for it. Set ${names.join(' or ')}, or MILLRACE_MODEL=demo.`,
  )
}
