import type { AnswerPiece } from '../write-answer.js'
import { describeAbilities } from './choose-tool.js'
import type { LatestExchange } from './latest-exchange.js'
import { languageOf, type Language } from './words.js'

/** Answers what no tool is for. */
export function makeSmallTalk(exchange: LatestExchange): AnswerPiece[] {
  const { userText } = exchange
  const language = languageOf(userText)
  const [, reply] = topics.find(([pattern]) => pattern.test(userText)) ?? []
  if (reply !== undefined) return reply(language, exchange)
  if (userText === '') return [introduce(language, exchange)]
  return [`${texts[language].noRule} ${introduce(language, exchange)}`]
}

/** The first pattern that matches the user's message counts. */
const topics: readonly (readonly [
  RegExp,
  (language: Language, exchange: LatestExchange) => AnswerPiece[],
])[] = [
  [
    /sky\b.*\bblue|blue\b.*\bsky|天.*蓝/i,
    (language) => [{ reasoning: texts[language].skyThought }, texts[language].sky],
  ],
  [
    /\b(think|reason|why|explain)|为什么|想一想/i,
    (language, exchange) => [
      { reasoning: texts[language].thought },
      `${texts[language].noRule} ${introduce(language, exchange)}`,
    ],
  ],
  [/\b(story|poem|long|stream)|故事/i, (language) => [texts[language].story]],
  [/\bjoke|笑话/i, (language) => [texts[language].joke]],
  [/\bhow are you\b|你好吗/i, (language) => [texts[language].fine]],
  [
    /\b(help|what can you|who are you|what are you|key|model)\b|你是谁|你会|你能|帮助/i,
    (language, exchange) => [introduce(language, exchange)],
  ],
  [/\b(thanks|thank you|great|cool|nice)\b|谢/i, (language) => [texts[language].welcome]],
  [/\b(bye|goodbye|see you)\b|再见/i, (language) => [texts[language].goodbye]],
  [
    /^\W*(hi|hello|hey|good (morning|afternoon|evening))\b|你好|您好/i,
    (language, exchange) => [`${texts[language].hello} ${introduce(language, exchange)}`],
  ],
]

function introduce(language: Language, { request: { tools = [] } }: LatestExchange): string {
  const abilities = describeAbilities(tools)
  const { who, can, story, key } = introductions[language]
  return [who, abilities.length === 0 ? story : can(abilities), key].join(language === 'zh' ? '' : ' ')
}

const introductions = {
  en: {
    who: 'I am the demo model of Millrace: a few simple rules, without a key or a network.',
    can: (abilities: readonly string[]) => `I can ${abilities.join(', or ')}.`,
    story: 'Ask me for a story, or for a joke.',
    key: 'To talk to a real model, set OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY.',
  },
  zh: {
    who: '我是 Millrace 的演示模型，只有几条简单的规则，不需要密钥，也不需要网络。',
    can: (abilities: readonly string[]) => `我的工具（英文）：${abilities.join('；')}。`,
    story: '可以让我讲个故事，或者讲个笑话。',
    key: '想用真正的模型，请设置 OPENAI_API_KEY、ANTHROPIC_API_KEY 或 GOOGLE_GENERATIVE_AI_API_KEY。',
  },
}

const texts = {
  en: {
    hello: 'Hello!',
    fine: 'Very well, thank you! And you?',
    welcome: 'You are welcome! Anything else?',
    goodbye: 'Goodbye! Come back any time.',
    noRule: 'Sorry, I have no rule for that.',
    thought:
      'I look for a rule that answers this, and there is none. I should not pretend to know. So I say what I am.',
    joke: 'Why did the stream never get lost? It always knew its source.',
    skyThought:
      'Sunlight has all colours, and the air scatters some of them more than others. Which? Those with the shortest waves. So blue light reaches the eye from everywhere.',
    sky: 'Because air scatters blue light much more than red. Blue comes from every part of the sky, and red comes straight from the sun: you see it in the evening, when its way through the air is long.',
    story:
      'Once a mill stood still, for the river ran past it on the other side of the meadow. The miller dug a race, a narrow ' +
      'channel, from the river to the wheel. Neighbours laughed: the river was so wide, and the channel so thin! But all ' +
      'the water that came through it came where it was needed. The wheel turned, slowly first, then evenly, day and ' +
      'night, and nobody asked any more how wide the river was.',
  },
  zh: {
    hello: '你好！',
    fine: '我很好，谢谢！你呢？',
    welcome: '不客气！还需要什么吗？',
    goodbye: '再见！随时欢迎回来。',
    noRule: '抱歉，我没有能回答这个问题的规则。',
    thought: '我找了找能回答的规则，没有找到。不懂不能装懂，所以我只介绍自己。',
    joke: '小溪为什么从不迷路？因为它总记得自己的源头。',
    skyThought: '阳光里有各种颜色，空气对它们的散射不一样：波长越短，散射越强。所以蓝光从四面八方进入眼睛。',
    sky: '因为空气散射蓝光比散射红光强得多。蓝光来自整个天空；红光则直直地从太阳过来，傍晚光线穿过的空气最厚，所以那时看得最清楚。',
    story:
      '从前有一座磨坊，河水在草地另一边流过，水轮一动不动。磨坊主挖了一条窄窄的水渠，从河边一直通到水轮。邻居们都笑：河那么宽，渠这么细！' +
      '可是流进水渠的每一滴水，都流到了用得着它的地方。水轮转了起来，先是慢慢的，然后稳稳的，日夜不停，再也没有人问那条河有多宽。',
  },
} as const satisfies Readonly<Record<Language, Readonly<Record<string, string>>>>
