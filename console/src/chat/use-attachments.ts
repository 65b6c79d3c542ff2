import { useState } from 'react'
import { readAttachments, type Attachment, type AttachmentProblem } from './attachments.js'

/** The files of the message that is being written. */
export function useAttachments() {
  const [attachments, setAttachments] = useState<readonly Attachment[]>([])
  const [problems, setProblems] = useState<readonly AttachmentProblem[]>([])
  return {
    attachments,
    problems,
    attach: async (files: readonly File[]): Promise<void> => {
      const read = await readAttachments(files, attachments)
      setAttachments((before) => [...before, ...read.attachments])
      setProblems(read.problems)
    },
    remove: (id: string): void => setAttachments((before) => before.filter((one) => one.id !== id)),
    clear: (): void => {
      setAttachments([])
      setProblems([])
    },
  }
}
