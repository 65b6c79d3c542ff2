import { randomUUID } from 'node:crypto'
import { redirect } from 'next/navigation'
import { Chat } from './chat'

/** The thread is in the address: a reload, and another tab, have the same one. */
export default async function Page({ searchParams }) {
  const { thread } = await searchParams
  if (!thread) redirect(`/?thread=${randomUUID()}`)
  return <Chat key={thread} threadId={thread} />
}
