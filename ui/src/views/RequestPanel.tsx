import { writeJson } from '../api/parse-json.js';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { toCurl, toFetch } from '../api/code.js';
import type { Reply } from '../api/load.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';

/** Characters of a body that are shown. */
const LONGEST_BODY = 50_000;

/** The request as code, and its response. */
export function RequestPanel({
  reply,
  isOpen,
}: {
  readonly reply: Reply;
  readonly isOpen: boolean;
}): JSX.Element {
  const [showsSecrets, setShowsSecrets] = useState(false);
  const { request, status, headers, milliseconds } = reply;
  useEffect(() => {
    setShowsSecrets(false);
  }, [reply]);
  const hasSecret = request.headers.Authorization !== undefined;
  return (
    <details class="panel" open={isOpen}>
      <summary>{text('request')}</summary>
      {hasSecret && (
        <label class="check">
          <input
            type="checkbox"
            checked={showsSecrets}
            onChange={(event) => {
              setShowsSecrets(event.currentTarget.checked);
            }}
          />
          {text('showSecrets')}
        </label>
      )}
      {hasSecret && !showsSecrets && <p class="hint">{text('secretsHidden')}</p>}
      <Code title={text('asCurl')} code={toCurl(request, location.origin, showsSecrets)} />
      <Code title={text('asFetch')} code={toFetch(request, location.origin, showsSecrets)} />
      <p>
        {text('status')} <strong>{status}</strong>, {text('milliseconds', { time: Math.round(milliseconds) })}
      </p>
      <h3>{text('headers')}</h3>
      <pre class="code" tabIndex={0}>
        {escapeText([...headers].map(([name, value]) => `${name}: ${value}`).join('\n'))}
      </pre>
      <Code title={text('body')} code={bodyOf(reply)} />
    </details>
  );
}

function bodyOf({ value, text: received }: Reply): string {
  const shown = value === undefined ? received : writeJson(value, 2);
  return escapeText(shown.length > LONGEST_BODY ? `${shown.slice(0, LONGEST_BODY)}\n…` : shown);
}

/** A text to take along: copied where the browser allows it, else selected. */
function Code({ title, code }: { readonly title: string; readonly code: string }): JSX.Element {
  const shown = useRef<HTMLPreElement>(null);
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    setIsCopied(false);
  }, [code]);
  // Only in a secure context, which plain HTTP is not.
  const clipboard = (navigator as { readonly clipboard?: Clipboard }).clipboard;
  const take = (): void => {
    if (shown.current) getSelection()?.selectAllChildren(shown.current);
    clipboard?.writeText(code).then(
      () => {
        setIsCopied(true);
      },
      () => undefined,
    );
  };
  return (
    <section>
      <h3>
        {title}{' '}
        <button
          type="button"
          class="small"
          onClick={take}
          aria-label={`${text(clipboard ? 'copy' : 'select')}: ${title}`}
        >
          {text(clipboard ? 'copy' : 'select')}
        </button>
        <span class="copied" role="status">
          {isCopied && text('copied')}
        </span>
      </h3>
      <pre ref={shown} class="code" tabIndex={0}>
        {code}
      </pre>
    </section>
  );
}
