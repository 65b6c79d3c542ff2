import { GraphRecursionError } from '@langchain/langgraph'
import { OutputParserException } from '@langchain/core/output_parsers'
import { ToolInputParsingException } from '@langchain/core/tools'
import { McpError } from '@modelcontextprotocol/sdk/types.js'
import { createRequire } from 'node:module'
import { z } from 'zod'

/** What no log line and no span may hold. */
export const secret = 'The patient is Ann Example, key sk-4711'

/** Every option that a class of the AI SDK takes, each with the secret. */
const options = {
  ...{ name: 'fake', message: secret, url: `https://api.example/?key=${secret}`, statusCode: 400 },
  ...{ requestBodyValues: { messages: [{ content: secret }] }, responseBody: secret, text: secret },
  ...{ responseHeaders: { authorization: secret }, data: { error: { message: secret } }, value: secret },
  ...{ prompt: [{ role: 'user', content: secret }], argument: secret, functionality: secret },
  ...{ modelId: 'fake-1', modelType: 'languageModel', provider: 'fake', reference: { id: secret } },
  ...{ cause: causeOf(secret), context: { field: secret, entityName: secret }, isRetryable: false },
  ...{ values: [secret], maxEmbeddingsPerCall: 1 },
}

function causeOf(text: string): Error {
  return Object.assign(new Error(text, { cause: { message: text, body: [text] } }), {
    request: { body: text },
  })
}

const require = createRequire(import.meta.url)

/** The error classes of every installed version of the AI SDK's provider package. */
function aiSdkErrors(): (readonly [string, unknown])[] {
  return ['@ai-sdk/openai', 'ai-sdk-openai-v2', 'ai-sdk-openai-v4'].flatMap((provider) => {
    const load = createRequire(require.resolve(provider))
    const modules = ['@ai-sdk/provider', '@ai-sdk/provider-utils'].map(
      (name) => load(name) as Readonly<Record<string, unknown>>,
    )
    return modules
      .flatMap((module) => Object.entries(module))
      .filter(([, value]) => isErrorClass(value))
      .map(([name, Class]) => {
        const error = new (Class as new (given: object) => Error)(options)
        return [`${name} of ${provider}`, error] as const
      })
  })
}

function isErrorClass(value: unknown): boolean {
  return typeof value === 'function' && value.prototype instanceof Error
}

/** The same members as the classes of `ai`, which is not needed here otherwise. */
const ai = {
  NoObjectGeneratedError: { text: secret, response: { messages: [secret] }, cause: causeOf(secret) },
  RetryError: { reason: 'maxRetriesExceeded', errors: [causeOf(secret)], lastError: causeOf(secret) },
  InvalidToolInputError: { toolInput: secret, toolName: 'work' },
}

function throwing(): Error {
  const error = new Error(secret)
  const fail = (): never => {
    throw new Error(secret)
  }
  for (const name of ['code', 'status', 'cause', 'details']) Object.defineProperty(error, name, { get: fail })
  return error
}

function circular(): Error {
  const error = new Error(secret)
  return Object.assign(error, { cause: error, errors: [error], self: { error } })
}

function zodError(): Error {
  const asked = z.object({ name: z.literal('x', { error: ({ input }) => `not ${String(input)}` }) })
  const { error } = asked.safeParse({ name: secret }, { reportInput: true })
  if (!error) throw new Error('The secret fits.')
  return error
}

/** Errors with the secret in all of their members, by what they are. */
export const secretErrors: readonly (readonly [string, unknown])[] = [
  ...aiSdkErrors(),
  ...Object.entries(ai).map(
    ([name, members]) =>
      [name, Object.assign(new Error(secret), { name: `AI_${name}`, ...members })] as const,
  ),
  ['an error of the OpenAI client', ofProvider({ status: 400, error: { message: secret, param: secret } })],
  [
    'an error of the Anthropic client',
    ofProvider({ status: 529, requestID: 'req', error: { error: secret } }),
  ],
  [
    'an error of Google GenAI',
    Object.assign(new Error(JSON.stringify({ error: secret })), { name: 'ApiError', status: 400 }),
  ],
  [
    'an error of axios',
    ofProvider({
      config: { data: secret },
      request: { path: secret },
      response: { status: 502, data: secret },
    }),
  ],
  ['OutputParserException', new OutputParserException(secret, secret, secret, true)],
  ['ToolInputParsingException', new ToolInputParsingException(secret, secret)],
  ['GraphRecursionError', new GraphRecursionError(secret)],
  ['McpError', new McpError(-32603, secret, { prompt: secret })],
  ['ZodError', zodError()],
  [
    'a failed fetch',
    new TypeError('fetch failed', { cause: Object.assign(new Error(secret), { code: 'ECONNREFUSED' }) }),
  ],
  ['AggregateError', new AggregateError([causeOf(secret), secret, { secret }], secret)],
  ['SyntaxError of JSON', syntaxError()],
  ['an error with getters that throw', throwing()],
  ['an error that holds itself', circular()],
  [
    'an error with a wrong name and code',
    Object.assign(new Error(secret), { name: secret, code: secret, status: secret }),
  ],
  ['an error with frames in its message', new Error(`it failed\n    at ${secret} (file.js:1:1)`)],
  [
    'an error with a new message',
    Object.assign(new Error(`first ${secret}\n    at work (${secret}:1:1)`), { message: 'other' }),
  ],
  ['a text', secret],
  ['an object', { message: secret, error: { type: 'overloaded_error', message: secret }, [secret]: 1 }],
  ['undefined', undefined],
]

function ofProvider(members: object): Error {
  return Object.assign(new Error(`400 ${secret}`), { headers: { authorization: secret }, ...members })
}

function syntaxError(): unknown {
  try {
    return JSON.parse(secret)
  } catch (error) {
    return error
  }
}
