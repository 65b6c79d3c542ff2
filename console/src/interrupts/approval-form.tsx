import { useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { initialValue, membersOf, schemaOf } from '../ui/json-schema.js'
import { SchemaForm } from '../ui/schema-form.js'
import type { AnswerShape } from './answer-shape.js'
import { ArgumentsEditor } from './arguments-editor.js'
import type { AskedCall } from './asked-call.js'

type Shape = Extract<AnswerShape, { readonly type: 'approval' | 'decision' }>

interface ApprovalFormProps {
  readonly shape: Shape
  readonly call: AskedCall | undefined
  readonly onResolve: (payload: unknown) => void
  readonly onCancel: () => void
}

/** Approve, approve with other arguments, reject with a reason, or cancel. */
export function ApprovalForm({ shape, call, onResolve, onCancel }: ApprovalFormProps): ReactNode {
  const texts = useTexts()
  const [mode, setMode] = useState<'choose' | 'edit' | 'reject'>('choose')
  const [args, setArgs] = useState<unknown>(call?.arguments ?? {})
  const [reason, setReason] = useState('')
  const rest = shape.type === 'approval' ? shape.rest : {}
  const [more, setMore] = useState(() => initialValue(rest))
  const can = abilitiesOf(shape)
  return (
    <form
      className="interrupt-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (mode === 'reject') onResolve(toRejection(shape, { more, reason }))
        else onResolve(toApproval(shape, { more, call, args: mode === 'edit' ? args : undefined }))
      }}
    >
      {membersOf(rest).length > 0 && mode !== 'reject' && (
        <SchemaForm schema={rest} value={more} onChange={setMore} label={texts.answer} />
      )}
      {mode === 'edit' && (
        <ArgumentsEditor schema={call?.schema ?? schemaOf(args)} value={args} onChange={setArgs} />
      )}
      {mode === 'reject' && (
        <label className="schema-field small">
          {texts.reason}
          <textarea
            className="field"
            rows={2}
            autoFocus
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
      )}
      <div className="interrupt-actions">
        {mode === 'reject' ? (
          <button className="button button-danger">{texts.reject}</button>
        ) : (
          can.approve && (
            <button className="button button-primary">
              {mode === 'edit' ? texts.approveEdited : texts.approve}
            </button>
          )
        )}
        {mode === 'choose' && can.edit && (
          <button type="button" className="button" onClick={() => setMode('edit')}>
            {texts.editArguments}
          </button>
        )}
        {mode === 'choose' && can.reject && (
          <button
            type="button"
            className="button button-danger"
            onClick={() =>
              can.giveReason ? setMode('reject') : onResolve(toRejection(shape, { more, reason }))
            }
          >
            {texts.reject}
          </button>
        )}
        {mode === 'choose' ? (
          <button type="button" className="button interrupt-cancel" onClick={onCancel}>
            {texts.cancel}
          </button>
        ) : (
          <button type="button" className="button interrupt-cancel" onClick={() => setMode('choose')}>
            {texts.back}
          </button>
        )}
      </div>
    </form>
  )
}

function abilitiesOf(shape: Shape) {
  if (shape.type === 'decision') {
    const { allowed } = shape
    const edit = allowed.includes('edit')
    return {
      approve: allowed.includes('approve') || edit,
      edit,
      reject: allowed.includes('reject'),
      giveReason: true,
    }
  }
  const { argumentsKey, reasonKey } = shape
  return {
    approve: true,
    edit: argumentsKey !== undefined,
    reject: true,
    giveReason: reasonKey !== undefined,
  }
}

interface Approval {
  readonly more: unknown
  readonly call: AskedCall | undefined
  readonly args: unknown
}

function toApproval(shape: Shape, { more, call, args }: Approval): unknown {
  if (shape.type === 'decision')
    return args === undefined
      ? { type: 'approve' }
      : { type: 'edit', editedAction: { name: call?.name ?? '', args } }
  const edited = args === undefined || shape.argumentsKey === undefined ? {} : { [shape.argumentsKey]: args }
  return { ...(more as object | undefined), [shape.key]: true, ...edited }
}

function toRejection(
  shape: Shape,
  { more, reason }: { readonly more: unknown; readonly reason: string },
): unknown {
  const words = reason.trim()
  if (shape.type === 'decision') return { type: 'reject', ...(words === '' ? {} : { message: words }) }
  const why = words === '' || shape.reasonKey === undefined ? {} : { [shape.reasonKey]: words }
  return { ...(more as object | undefined), [shape.key]: false, ...why }
}
