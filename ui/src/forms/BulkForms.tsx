import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { BulkDescription, RouteDescription } from '../../../src/core/contracts/route-description.js';
import { countRows } from '../api/count-rows.js';
import type { Reply } from '../api/load.js';
import { pathOf, withSlash } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { usePage } from '../views/context.js';
import { filteredUrl, selectedUrl } from './bulk-url.js';
import { Consequences } from './DeleteForm.js';
import { toBody } from './draft.js';
import type { Draft } from './draft.js';
import { NO_ERRORS, toFormErrors } from './field-errors.js';
import type { FormErrors } from './field-errors.js';
import { specsOfChange } from './field-spec.js';
import { Form } from './Form.js';
import { draftErrors, failureOf } from './form-failure.js';
import { useWrite } from './use-write.js';

interface BulkFormsProps {
  readonly description: RouteDescription;
  readonly bulk: BulkDescription;
  /** The keys of the chosen rows, as texts. */
  readonly chosen: readonly string[];
  clear(): void;
}

/** What a change of many objects applies to. */
interface Target {
  readonly url: string;
  readonly count: string;
  /** The keys of the chosen objects; undefined if filters select them. */
  readonly keys?: readonly string[];
}

/** Changes or deletes many objects at once: the chosen ones, or all that match the filters. */
export function BulkForms({ description, bulk, chosen, clear }: BulkFormsProps): JSX.Element {
  const { url, client, reload } = usePage();
  const [form, setForm] = useState<'PATCH' | 'DELETE'>();
  const [target, setTarget] = useState<Target>();
  const filtered = filteredUrl(url, description);
  const close = (): void => {
    setForm(undefined);
    setTarget(undefined);
  };
  const open = (method: 'PATCH' | 'DELETE', next: Target): void => {
    setForm(method);
    setTarget(next);
  };
  const openFiltered = (method: 'PATCH' | 'DELETE'): void => {
    if (filtered === undefined) return;
    open(method, { url: filtered, count: '…' });
    countRows(client, filtered).then(
      (count) => {
        setTarget({ url: filtered, count });
      },
      () => {
        setTarget({ url: filtered, count: '?' });
      },
    );
  };
  const methods = (['PATCH', 'DELETE'] as const).filter((method) => bulk.methods.includes(method));
  return (
    <section class="bulk" aria-label={text('many')}>
      <div class="row">
        <span role="status">{text('chosenCount', { count: chosen.length })}</span>
        {methods.map((method) => (
          <button
            key={method}
            type="button"
            disabled={chosen.length === 0}
            onClick={() => {
              open(method, {
                url: selectedUrl(withSlash(pathOf(url)), chosen, { bulk, description }),
                count: String(chosen.length),
                keys: chosen,
              });
            }}
          >
            {text(method === 'PATCH' ? 'changeChosen' : 'deleteChosen')}
          </button>
        ))}
        {filtered !== undefined &&
          methods.map((method) => (
            <button
              key={method}
              type="button"
              onClick={() => {
                openFiltered(method);
              }}
            >
              {text(method === 'PATCH' ? 'changeFiltered' : 'deleteFiltered')}
            </button>
          ))}
      </div>
      {form && target && (
        <BulkForm
          key={form + target.url}
          description={description}
          method={form}
          target={target}
          close={close}
          done={() => {
            close();
            clear();
            reload(text(form === 'PATCH' ? 'saved' : 'deleted'));
          }}
        />
      )}
    </section>
  );
}

interface BulkFormProps {
  readonly description: RouteDescription;
  readonly method: 'PATCH' | 'DELETE';
  readonly target: Target;
  close(): void;
  done(): void;
}

function BulkForm({ description, method, target, close, done }: BulkFormProps): JSX.Element {
  const specs = method === 'PATCH' ? specsOfChange(description) : [];
  const [draft, setDraft] = useState<Draft>({});
  const [errors, setErrors] = useState<FormErrors>(NO_ERRORS);
  const { isBusy, send } = useWrite();
  const submit = async (): Promise<void> => {
    let body: Record<string, unknown> | undefined;
    try {
      body = method === 'PATCH' ? toBody(draft, specs) : undefined;
    } catch (error) {
      setErrors(draftErrors(error));
      return;
    }
    const reply = await send(target.url, { method, body });
    if (reply && reply.status < 400) done();
    else setErrors(failureOf(reply) ?? errorsByRow(reply, target.keys) ?? toFormErrors(reply?.value, specs));
  };
  const title = text(method === 'PATCH' ? 'changeMany' : 'deleteMany', { count: target.count });
  return (
    <Form
      title={title}
      specs={specs}
      initial={{}}
      draft={draft}
      errors={errors}
      isBusy={isBusy || target.count === '…'}
      submitLabel={title}
      change={setDraft}
      submit={() => void submit()}
      close={close}
    >
      {method === 'PATCH' && <p class="hint">{text('onlyTouched')}</p>}
      {method === 'DELETE' && description.deletion && <Consequences deletion={description.deletion} />}
    </Form>
  );
}

/** The messages of a list of errors, with the keys of their objects, or with their positions. */
function errorsByRow(reply: Reply | undefined, keys: readonly string[] = []): FormErrors | undefined {
  if (!Array.isArray(reply?.value)) return undefined;
  const general = (reply.value as readonly unknown[]).flatMap((each, at) => {
    const { general: messages } = toFormErrors(each, []);
    return messages.map(
      (message) => `${text('rowNumber', { number: keys[at] ?? at + 1 })}: ${escapeText(message)}`,
    );
  });
  return { fields: {}, general };
}
