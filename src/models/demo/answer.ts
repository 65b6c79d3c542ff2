import { contentToText } from '@ag-ui/core'
import { isRecord, parseJson } from '../../core/json.js'
import type { AnswerPiece } from '../write-answer.js'
import { calledAgent, leadsToAgents, pickTool } from './choose-tool.js'
import { describeResult } from './describe-result.js'
import { createFacts } from './facts.js'
import { fillSchema } from './fill-schema.js'
import type { AgentReport, LatestExchange } from './latest-exchange.js'
import { makeSmallTalk } from './small-talk.js'
import { enumerate, languageOf, type Language } from './words.js'

/** Answers an exchange; undefined leaves it to the next rule. */
type AnswerRule = (exchange: LatestExchange) => AnswerPiece[] | undefined

const rules: readonly AnswerRule[] = [callTool, fillOutput, reportResults]

/** The answer of the first rule that has one. Deterministic. */
export function answerExchange(exchange: LatestExchange): AnswerPiece[] {
  for (const rule of rules) {
    const answer = rule(exchange)
    if (answer !== undefined) return answer
  }
  return makeSmallTalk(exchange)
}

function callTool(exchange: LatestExchange): AnswerPiece[] | undefined {
  const choice = pickTool(exchange)
  if (choice === undefined) return undefined
  const { tool, agent } = choice
  const schema = isRecord(tool.parameters) ? tool.parameters : { type: 'object' }
  const known = agent === undefined ? {} : { [agent.parameter]: agent.name }
  const args = fillSchema(schema, { facts: createFacts(exchange.userText), known })
  const reasoning =
    agent === undefined
      ? `The tool ${tool.name} fits what the user says. I call it with ${JSON.stringify(args)}.`
      : `The agent ${agent.name} fits what the user says. I ask it.`
  return [{ reasoning }, { toolCall: { name: tool.name, args } }]
}

/** Answers with JSON of the requested schema. Members of tool results go into members of the same name. */
function fillOutput({ userText, results, request: { output } }: LatestExchange): AnswerPiece[] | undefined {
  if (output === undefined) return undefined
  const found = results.map(({ message }) => parseJson(contentToText(message.content))).filter(isRecord)
  const known = Object.fromEntries(found.flatMap(Object.entries<unknown>))
  return [JSON.stringify(fillSchema(output.schema, { facts: createFacts(userText), known }))]
}

/** Answers with the results of tools. Whoever leads other agents closes what they have said. */
function reportResults(exchange: LatestExchange): AnswerPiece[] | undefined {
  const { userText, results, request } = exchange
  const language = languageOf(userText)
  const leads = (request.tools ?? []).some(leadsToAgents)
  const own = results.filter(({ message }) => calledAgent(exchange, message.toolCallId) === undefined)
  const sentences = own.map(({ message }) => describeResult(message, language))
  const heard = own.length > 0 && !leads ? [] : heardReports(exchange)
  if (sentences.length + heard.length === 0) return undefined
  if (heard.length > 0) sentences.push(closeReports(heard, language))
  return [sentences.join(language === 'zh' ? '' : ' ')]
}

/** What other agents have said: after a transfer, or as the result of a tool. */
function heardReports(exchange: LatestExchange): readonly AgentReport[] {
  // A transfer tool only confirms the transfer: the agent's own report counts.
  if (exchange.reports.length > 0) return exchange.reports
  return exchange.results.flatMap(({ message: { toolCallId, content, error } }) => {
    const name = calledAgent(exchange, toolCallId)
    const text = contentToText(content) || (error ?? '')
    return name === undefined ? [] : [{ name, text, isFailed: error !== undefined }]
  })
}

/** The user has read what the others said, so it is not said again. Only a failure is told: who failed could not. */
function closeReports(reports: readonly AgentReport[], language: Language): string {
  const [answered, failed] = [false, true].map((isFailed) =>
    reports.filter((report) => report.isFailed === isFailed),
  )
  const names = enumerate([...new Set(answered?.map(({ name }) => name))], language)
  const all = language === 'zh' ? `${names} 已经回答完了。` : `That is all from ${names}.`
  const failures = (failed ?? []).map(({ name, text }) =>
    language === 'zh' ? `${name} 没有成功：${text}` : `${name} could not help: ${text}`,
  )
  const more = language === 'zh' ? '还需要什么吗？' : 'Anything else?'
  return [...(names === '' ? [] : [all]), ...failures, more].join(language === 'zh' ? '' : ' ')
}
