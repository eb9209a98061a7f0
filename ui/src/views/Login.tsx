import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Reply } from '../api/load.js';
import { basicCredentials, bearerCredentials } from '../api/session.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { messagesOf } from '../values/error-messages.js';
import { usePage } from './context.js';
import type { LoginAttempt } from './use-login.js';

interface LoginProps {
  /** The response that is shown. */
  readonly reply: Reply | undefined;
  readonly attempt: LoginAttempt;
  /** Undefined where nothing else can be done. */
  readonly close: (() => void) | undefined;
}

type Scheme = 'basic' | 'bearer';

/** The schemes that the server accepts, by its challenge; both if it says nothing. */
function schemesOf(reply: Reply | undefined): readonly Scheme[] {
  const challenge = reply?.headers.get('www-authenticate')?.toLowerCase() ?? '';
  const found = (['basic', 'bearer'] as const).filter((scheme) => challenge.includes(scheme));
  return found.length > 0 ? found : ['basic', 'bearer'];
}

/**
 * The form for credentials. Its inputs have no names and the form no action: without the script nothing could be sent in a
 * URL.
 */
export function Login({ reply, attempt, close }: LoginProps): JSX.Element {
  const { problem, isBusy, logIn } = attempt;
  const schemes = schemesOf(reply);
  const [chosen, setChosen] = useState<Scheme>();
  const scheme = chosen ?? schemes[0] ?? 'basic';
  const [user, secret, keep] = [
    useRef<HTMLInputElement>(null),
    useRef<HTMLInputElement>(null),
    useRef<HTMLInputElement>(null),
  ];
  const heading = useId();
  useEffect(() => {
    (user.current ?? secret.current)?.focus();
  }, [scheme, user, secret]);
  const submit = (event: Event): void => {
    event.preventDefault();
    const given = secret.current?.value ?? '';
    const credentials =
      scheme === 'basic' ? basicCredentials(user.current?.value ?? '', given) : bearerCredentials(given);
    logIn(credentials, keep.current?.checked === true);
  };
  return (
    <section class="login" aria-labelledby={heading}>
      <h2 id={heading}>{text('logIn')}</h2>
      <Rejection reply={reply} problem={problem} />
      {schemes.length > 1 && (
        <fieldset class="choice">
          <legend>{text('credentials')}</legend>
          {schemes.map((each) => (
            <label key={each}>
              <input
                type="radio"
                checked={each === scheme}
                onChange={() => {
                  setChosen(each);
                }}
              />
              {text(each)}
            </label>
          ))}
        </fieldset>
      )}
      <form onSubmit={submit}>
        {scheme === 'basic' && (
          <label>
            {text('userName')}
            <input
              ref={user}
              type="text"
              autocomplete="username"
              autocapitalize="none"
              spellcheck={false}
              required
            />
          </label>
        )}
        <label key={scheme}>
          {text(scheme === 'basic' ? 'password' : 'token')}
          <input
            ref={secret}
            type="password"
            autocomplete={scheme === 'basic' ? 'current-password' : 'off'}
            required={scheme === 'bearer'}
          />
        </label>
        <label class="check">
          <input ref={keep} type="checkbox" />
          {text('keepForSession')}
        </label>
        <div class="row">
          <button type="submit" class="main" disabled={isBusy}>
            {text('logIn')}
          </button>
          {close && (
            <button type="button" onClick={close}>
              {text('cancel')}
            </button>
          )}
        </div>
      </form>
    </section>
  );
}

/** Why one must log in again: the last attempt was rejected, or the server rejects the credentials in use here. */
function Rejection({
  reply,
  problem,
}: Pick<LoginProps, 'reply'> & { readonly problem: string }): JSX.Element | null {
  const { session } = usePage();
  if (problem !== '')
    return (
      <p class="refused" role="alert">
        {escapeText(problem)}
      </p>
    );
  if (reply?.status !== 401 || !session.credentials) return null;
  return (
    <p class="refused" role="alert">
      {text('wrongCredentials')} {escapeText(messagesOf(reply.value).join(' '))}
    </p>
  );
}
