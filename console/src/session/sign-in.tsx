import { useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { rememberToken } from './api.js'
import './sign-in.css'

/** Asks for the token that the server wants. */
export function SignIn({ onToken }: { readonly onToken: () => void }): ReactNode {
  const texts = useTexts()
  const [token, setToken] = useState('')
  const submit = (): void => {
    rememberToken(token.trim())
    onToken()
  }
  return (
    <main className="sign-in">
      <form
        className="card sign-in-card"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <h1>{texts.tokenTitle}</h1>
        <p className="muted small">{texts.tokenHelp}</p>
        <label>
          <span className="small">{texts.token}</span>
          <input
            className="field mono"
            type="password"
            autoComplete="off"
            autoFocus
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <button className="button button-primary" disabled={token.trim() === ''}>
          {texts.signIn}
        </button>
      </form>
    </main>
  )
}
