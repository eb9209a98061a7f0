import { exactMember } from '../api/parse-json.js';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { JSON_TYPE } from '../api/client.js';
import type { Client } from '../api/client.js';
import { toReply } from '../api/load.js';
import type { Reply } from '../api/load.js';
import type { Row } from '../api/page.js';
import { text } from '../messages/messages.js';
import { usePage } from '../views/context.js';
import { Conflict } from './Conflict.js';
import { useSpecs } from './children.js';
import { toBody, toDraft } from './draft.js';
import type { Draft } from './draft.js';
import { NO_ERRORS, toFormErrors } from './field-errors.js';
import type { FieldSpec } from './field-spec.js';
import { Form } from './Form.js';
import { draftErrors, failureOf } from './form-failure.js';
import { useDraft } from './use-draft.js';
import { useWrite } from './use-write.js';

/** An object as it was read, with its tag. */
export interface Version {
  readonly row: Row;
  readonly etag: string | undefined;
}

interface EditFormProps {
  readonly description: RouteDescription;
  /** The path of the object. */
  readonly url: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  close(): void;
  done(): void;
}

/** How an object is changed: PATCH of what was touched, where the caller may. */
export function changeMethod({ methods }: RouteDescription): 'PATCH' | 'PUT' {
  return methods.includes('PATCH') ? 'PATCH' : 'PUT';
}

/** A form for the fields of an object. What was not touched is not sent. */
export function EditForm(props: EditFormProps): JSX.Element {
  const { url, close } = props;
  const { client } = usePage();
  const [version, setVersion] = useState<Version | 'failed'>();
  useEffect(() => {
    const controller = new AbortController();
    readVersion(client, url, controller.signal).then(
      (read) => {
        setVersion(read ?? 'failed');
      },
      () => {
        if (!controller.signal.aborted) setVersion('failed');
      },
    );
    return () => {
      controller.abort();
    };
  }, [client, url]);
  if (version === 'failed')
    return (
      <div class="problem" role="alert">
        <p>{text('networkError')}</p>
        <button type="button" onClick={close}>
          {text('close')}
        </button>
      </div>
    );
  return version ? <KnownForm {...props} first={version} /> : <p class="hint">{text('loading')}</p>;
}

interface LoadedProps extends EditFormProps {
  readonly first: Version;
}

/** The form, when its children are known. */
function KnownForm(props: LoadedProps): JSX.Element {
  const { description, url, first } = props;
  const specs = useSpecs({ description, method: 'PUT', url, row: first.row });
  return specs ? <LoadedForm {...props} specs={specs} /> : <p class="hint">{text('loading')}</p>;
}

/** The object as it stands, without labels: a response with labels has no tag. Undefined if it cannot be read. */
async function readVersion(client: Client, url: string, signal?: AbortSignal): Promise<Version | undefined> {
  const { status, value, headers } = await toReply(await client.get(url, { accept: JSON_TYPE, signal }));
  return status === 200 ? { row: value as Row, etag: headers.get('etag') ?? undefined } : undefined;
}

function LoadedForm({
  description,
  url,
  labels,
  close,
  done,
  first,
  specs,
}: LoadedProps & { readonly specs: readonly FieldSpec[] }): JSX.Element {
  const { client } = usePage();
  const method = changeMethod(description);
  const [version, setVersion] = useState(first);
  const [theirs, setTheirs] = useState<Version>();
  const [draft, setDraft] = useDraft(`${method} ${url}`);
  const [errors, setErrors] = useState(NO_ERRORS);
  const { isBusy, send } = useWrite();
  const initial = draftOf(version.row, specs);

  const refuse = async (reply: Reply | undefined, typed: Draft): Promise<void> => {
    const current = reply?.status === 412 ? await readVersion(client, url).catch(() => undefined) : undefined;
    if (current) setTheirs(current);
    else setErrors(failureOf(reply) ?? toFormErrors(reply?.value, specs, typed));
  };
  const save = async (typed: Draft, { etag }: Version): Promise<void> => {
    let body: Record<string, unknown>;
    try {
      body = toBody(method === 'PUT' ? { ...initial, ...typed } : typed, specs, initial);
    } catch (error) {
      setErrors(draftErrors(error));
      return;
    }
    const headers: Readonly<Record<string, string>> =
      description.conditional && etag !== undefined ? { 'If-Match': etag } : {};
    const reply = await send(url, { method, body, headers });
    if (!reply || reply.status >= 400) {
      await refuse(reply, typed);
      return;
    }
    setDraft({});
    done();
  };
  const changed = changesOf(draft, initial);
  if (theirs)
    return (
      <Conflict
        specs={specs}
        base={initial}
        theirs={draftOf(theirs.row, specs)}
        mine={changed}
        isBusy={isBusy}
        resolve={(resolved) => {
          setVersion(theirs);
          setTheirs(undefined);
          setDraft(resolved);
          if (Object.keys(resolved).length === 0) done();
          else void save(resolved, theirs);
        }}
        close={() => {
          setTheirs(undefined);
        }}
      />
    );
  return (
    <Form
      title={text('change')}
      specs={specs}
      initial={initial}
      draft={draft}
      errors={errors}
      isBusy={isBusy}
      labels={labels}
      submitLabel={text('save')}
      change={setDraft}
      submit={() => {
        if (Object.keys(changed).length === 0) setErrors({ fields: {}, general: [text('nothingChanged')] });
        else void save(changed, version);
      }}
      close={() => {
        setDraft({});
        close();
      }}
    />
  );
}

function draftOf(row: Row, specs: readonly FieldSpec[]): Draft {
  return Object.fromEntries(
    specs
      .filter(({ name }) => Object.hasOwn(row, name))
      .map((spec) => [
        spec.name,
        spec.readOnly ? (row[spec.name] as null) : toDraft(exactMember(row, spec.name), spec),
      ]),
  );
}

/** What was typed, without fields that have their old value again. */
function changesOf(draft: Draft, initial: Draft): Draft {
  return Object.fromEntries(
    Object.entries(draft).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(initial[name])),
  );
}
