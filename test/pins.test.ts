import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as protocol from '../src/protocol/index.js'
import * as testing from '../src/testing/index.js'

/** What others rely on, written out: a change here is a change of the public surface, and must be meant. */

it('publishes these entries', () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: Record<string, string> }
  expect(exports).toEqual({
    '.': './dist/index.js',
    './a2ui': './dist/a2ui/index.js',
    './adk': './dist/adk/index.js',
    './ag-ui': './dist/client/ag-ui/index.js',
    './client': './dist/client/index.js',
    './langgraph': './dist/langgraph/index.js',
    './memory': './dist/threads/memory/store.js',
    './models': './dist/models/index.js',
    './node': './dist/server/node.js',
    './prebuilt': './dist/agents/prebuilt/index.js',
    './protocol': './dist/protocol/index.js',
    './react': './dist/client/react/index.js',
    './remote': './dist/remote/index.js',
    './server': './dist/server/index.js',
    './sqlite': './dist/threads/sqlite/store.js',
    './testing': './dist/testing/index.js',
    './package.json': './package.json',
  })
})

it('shows these names of the protocol', () => {
  expect(Object.keys(protocol).sort()).toEqual([
    'LaneOrder',
    'addMark',
    'compactRun',
    'countingMessages',
    'createDowngrade',
    'createFold',
    'createProtobufEncoder',
    'createRunStream',
    'createSseEncoder',
    'cutOffMark',
    'decodeProtobuf',
    'decodeSse',
    'describeContent',
    'displayMark',
    'eventIdPrefix',
    'eventProblem',
    'formatEventId',
    'hasLegacyAnswer',
    'importedMark',
    'isCutOff',
    'isForDisplay',
    'isImported',
    'isOfItem',
    'isRejected',
    'isReported',
    'isRewritten',
    'isRunStateKey',
    'isThreadStateKey',
    'isToolError',
    'legacyAnswers',
    'lostEventName',
    'maxProtobufFrame',
    'negotiate',
    'parseEventId',
    'parsePeer',
    'parseRunInput',
    'protobufMediaType',
    'rejectMessage',
    'rejectedCallContent',
    'rejectedMark',
    'reportedMark',
    'resumeRunStream',
    'retryEventName',
    'rewriteEventName',
    'rewriteMessages',
    'rewrittenMark',
    'speaksNewest',
    'sseHeaders',
    'sseHeartbeat',
    'stateEventBetween',
    'sumUsage',
    'threadEventName',
    'toNewestVersion',
    'toToolError',
    'toVersion10',
    'toolErrorMark',
    'uniqueMessages',
    'upgradeBinaryParts',
    'withRunStream',
    'withoutValueTypes',
  ])
})

it('shows these names of the linter', () => {
  expect(Object.keys(testing).sort()).toEqual([
    'assertValidStream',
    'lintEndpoint',
    'lintEvents',
    'lintRules',
  ])
})

it('frames an event like this', () => {
  const encode = protocol.createSseEncoder('run 1')
  expect(encode({ type: 'STEP_STARTED', stepName: 'plan' }, 7)).toBe(
    'id: run%201:7\ndata: {"type":"STEP_STARTED","stepName":"plan"}\n\n',
  )
  expect(protocol.sseHeartbeat).toBe(': keep-alive\n\n')
})
