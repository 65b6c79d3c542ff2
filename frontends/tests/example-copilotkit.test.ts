import { expect, it } from 'vitest'
import { startExample } from './example.js'
import { patience } from './front-end.js'

it('the example starts with one command, and has its threads after it was started again', async () => {
  const { page, reported, restart } = await startExample({ name: 'copilotkit', command: ['start'] })
  const say = async (text: string) => {
    await page.getByTestId('copilot-chat-textarea').fill(text)
    await page.getByTestId('copilot-send-button').click()
  }
  await say('What is the weather in Oslo?')
  const weather = page.getByTestId('weather')
  await expect.poll(() => weather.allTextContents(), { timeout: 20_000 }).toEqual(['Oslo: 7 °C'])
  // Under a complete answer. Before that, the button stops the run in place of sending.
  await page.getByTestId('copilot-copy-button').first().waitFor()
  await say('Book a table for 2 guests.')
  const approval = page.getByTestId('approval')
  await approval.getByText('Book a table for 2?').waitFor({ timeout: 20_000 })
  await restart()
  await page.reload()
  await expect.poll(() => weather.allTextContents(), { timeout: 20_000 }).toEqual(['Oslo: 7 °C'])
  await approval.getByRole('button', { name: 'Yes' }).click()
  const last = page.locator('.copilotKitAssistantMessage').last()
  await expect.poll(() => last.textContent(), patience).toContain('booked')
  await page.getByRole('button', { name: 'Refresh' }).click()
  const named = page.getByTestId('thread').locator('a')
  await expect.poll(() => named.allTextContents(), patience).toEqual(['What is the weather in Oslo?'])
  expect(reported()).toEqual([])
})
