import type { ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import type { Texts } from '../i18n/en.js'
import { Icon } from '../ui/icon.js'
import { maxFileBytes, type Attachment, type AttachmentProblem } from './attachments.js'
import './attachment-list.css'

interface AttachmentListProps {
  readonly attachments: readonly Attachment[]
  readonly problems: readonly AttachmentProblem[]
  readonly onRemove: (id: string) => void
}

/** The files that go with the next message, and why others do not. */
export function AttachmentList({ attachments, problems, onRemove }: AttachmentListProps): ReactNode {
  const texts = useTexts()
  return (
    <>
      {attachments.length > 0 && (
        <ul className="plain attachments" aria-label={texts.attachments}>
          {attachments.map(({ id, name, preview }) => (
            <li key={id} className="attachment">
              {preview === undefined ? (
                <span className="attachment-file tiny">
                  <Icon name="attach" size={15} />
                  <span>{name}</span>
                </span>
              ) : (
                <img src={preview} alt={texts.imageNamed(name)} />
              )}
              <button
                type="button"
                className="attachment-remove"
                aria-label={texts.removeFile(name)}
                onClick={() => onRemove(id)}
              >
                <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div role="alert">
        {problems.map((problem, index) => (
          <p key={index} className="attachment-problem small">
            {problemText(problem, texts)}
          </p>
        ))}
      </div>
    </>
  )
}

function problemText(problem: AttachmentProblem, texts: Texts): string {
  switch (problem.type) {
    case 'file-too-large':
      return texts.fileTooLarge(problem.name, inMegabytes(problem.bytes), inMegabytes(maxFileBytes))
    case 'all-too-large':
      return texts.filesTooLarge(problem.name)
    case 'too-many':
      return texts.tooManyFiles(problem.name)
    case 'unreadable':
      return texts.fileUnreadable(problem.name)
  }
}

function inMegabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
