import { beforeEach, describe, expect, it } from 'vitest'
import { createAsker, type Answers } from './agents-interrupts.js'
import { answer, hasFocus, propertyOf, say } from './chat-actions.js'
import { phone, useConsole } from './rig.js'

describe('interrupts', () => {
  const answers: Answers = []
  const rig = useConsole(() => ({ agents: [createAsker(answers)] }))
  beforeEach(() => {
    answers.length = 0
  })

  it('are cards that approve at a click', async () => {
    const page = await rig.open('#/chat/asker')
    await say(page, 'pay')
    const card = page.getByRole('group', { name: 'Pay 5 to Ann?' })
    expect(await card.locator('.json-text').textContent()).toContain('"amount": 5')
    await card.getByRole('button', { name: 'Approve' }).click()
    await answer(page, 'Done with pay.').waitFor()
    expect(answers).toEqual([{ status: 'resolved', payload: { approved: true } }])
    expect(await card.count()).toBe(0)
  })

  it('take edited arguments, as a form and as JSON', async () => {
    const page = await rig.open('#/chat/asker')
    await say(page, 'pay')
    const card = page.getByRole('group', { name: 'Pay 5 to Ann?' })
    await card.getByRole('button', { name: 'Edit arguments' }).click()
    await card.getByLabel('amount').fill('3')
    await card.getByRole('button', { name: 'JSON' }).click()
    const json = card.getByRole('textbox', { name: 'Arguments' })
    expect(JSON.parse(await json.inputValue())).toEqual({ to: 'Ann', amount: 3 })
    await json.fill('{ "to": "Cid", "amount": 4')
    await card.getByRole('button', { name: 'Approve with these' }).click()
    expect(await propertyOf(json, 'validationMessage')).toBe('This is no JSON.')
    await json.fill('{ "to": "Cid", "amount": 4 }')
    await card.getByRole('button', { name: 'Approve with these' }).click()
    await answer(page, 'Done with pay.').waitFor()
    expect(answers).toEqual([
      { status: 'resolved', payload: { approved: true, arguments: { to: 'Cid', amount: 4 } } },
    ])
  })

  it('can be rejected with a reason, and cancelled', async () => {
    const page = await rig.open('#/chat/asker')
    await say(page, 'pay')
    const card = page.getByRole('group', { name: 'Pay 5 to Ann?' })
    await card.getByRole('button', { name: 'Reject' }).click()
    await card.getByLabel('Reason (optional)').fill('Too much')
    await card.getByRole('button', { name: 'Reject' }).click()
    await answer(page, 'Done with pay.').waitFor()
    await say(page, 'pay')
    await card.getByRole('button', { name: 'Cancel' }).click()
    await answer(page, 'Done with pay.').nth(1).waitFor()
    expect(answers).toEqual([
      { status: 'resolved', payload: { approved: false, reason: 'Too much' } },
      { status: 'cancelled' },
    ])
  })

  it('have a form that the schema describes', async () => {
    const page = await rig.open('#/chat/asker', { viewport: phone })
    await say(page, 'book')
    const card = page.getByRole('group', { name: 'Which seat?' })
    await card.getByLabel('seat').selectOption('aisle')
    await card.getByLabel('bags').fill('2')
    await card.getByLabel('isVegetarian').check()
    await card.getByRole('button', { name: 'Send answer' }).click()
    await answer(page, 'Done with book.').waitFor()
    expect(answers).toEqual([{ status: 'resolved', payload: { seat: 'aisle', bags: 2, isVegetarian: true } }])
  })

  it('offer the decisions of a review, and a text without a schema', async () => {
    const page = await rig.open('#/chat/asker')
    await say(page, 'decide')
    const card = page.getByRole('group', { name: 'Review this.' })
    await card.getByRole('button', { name: 'Reject' }).click()
    await card.getByLabel('Reason (optional)').fill('No')
    await card.getByRole('button', { name: 'Reject' }).click()
    await answer(page, 'Done with decide.').waitFor()
    await say(page, 'wish')
    await page.getByRole('textbox', { name: 'Answer' }).fill('Sun')
    await page.getByRole('button', { name: 'Send answer' }).click()
    await answer(page, 'Done with wish.').waitFor()
    expect(answers).toEqual([
      { status: 'resolved', payload: { type: 'reject', message: 'No' } },
      { status: 'resolved', payload: 'Sun' },
    ])
  })

  it('are answered together when there are several, also after a reload', async () => {
    const page = await rig.open('#/chat/asker')
    await say(page, 'two')
    await page.getByRole('group', { name: 'Pay 7 to Bob?' }).waitFor()
    await page.reload()
    const [ann, bob] = [5, 7].map((amount) => page.getByRole('group', { name: `Pay ${amount} to` }))
    const send = page.getByRole('button', { name: 'Send 2 answers' })
    await ann?.getByRole('button', { name: 'Approve' }).click()
    expect(await send.isDisabled()).toBe(true)
    await page.getByText('1 of 2 still open').waitFor()
    await ann?.getByRole('button', { name: 'Change' }).click()
    await ann?.getByRole('button', { name: 'Approve' }).click()
    await bob?.getByRole('button', { name: 'Cancel' }).click()
    await send.click()
    await answer(page, 'Done with two.').waitFor()
    expect(answers).toHaveLength(2)
    expect(answers).toContainEqual({ status: 'resolved', payload: { approved: true } })
    expect(answers).toContainEqual({ status: 'cancelled' })
  })

  it('are announced, block the composer, and are answered with the keyboard alone', async () => {
    const page = await rig.open('#/chat/asker')
    const composer = page.getByRole('textbox', { name: 'Message' })
    await page.keyboard.press('Tab')
    while (!(await hasFocus(composer))) await page.keyboard.press('Tab')
    await page.keyboard.type('pay')
    await page.keyboard.press('Enter')
    const card = page.getByRole('group', { name: 'Pay 5 to Ann?' })
    await card.waitFor()
    await page.locator('[role=status]', { hasText: 'asks you: Pay 5 to Ann?' }).waitFor({ state: 'attached' })
    expect(await composer.getAttribute('placeholder')).toBe('Answer above first')
    const approve = card.getByRole('button', { name: 'Approve' })
    for (let step = 0; step < 12 && !(await hasFocus(approve)); step++) await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await answer(page, 'Done with pay.').waitFor()
    expect(answers).toEqual([{ status: 'resolved', payload: { approved: true } }])
    expect(await hasFocus(composer)).toBe(true)
  })
})
