import { useState, type ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { RunFileError } from '../model/run-file.js'
import { openFile } from '../source/use-run.js'

/** Opens saved runs. Says what is wrong with a file that is none. */
export function FilePicker({ onOpen }: { readonly onOpen: (source: string) => void }): ReactNode {
  const texts = useTexts()
  const { open, error } = useOpenFile(onOpen)
  return (
    <div className="file-picker">
      <label className="button">
        {texts.insChooseFile}
        <input
          className="visually-hidden"
          type="file"
          accept=".json,application/json"
          onChange={(event) => {
            open(event.target.files?.[0])
            event.target.value = ''
          }}
        />
      </label>
      {error !== '' && (
        <p className="details-fault" role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

/** Opens a file that was chosen or dropped. */
export function useOpenFile(onOpen: (source: string) => void) {
  const texts = useTexts()
  const [error, setError] = useState('')
  const open = (file: File | undefined): void => {
    if (!file) return
    setError('')
    openFile(file).then(onOpen, (failure: unknown) => {
      const isFault = failure instanceof RunFileError
      const reason = isFault ? texts.insFileFault(failure.fault, failure.detail) : String(failure)
      setError(`${file.name}: ${reason}`)
    })
  }
  return { open, error }
}
