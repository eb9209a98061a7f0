import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { Value } from '../views/Value.js';
import type { Draft } from './draft.js';
import type { FormErrors } from './field-errors.js';
import type { FieldSpec } from './field-spec.js';
import { FieldRow } from './FieldRow.js';

interface FormProps {
  readonly title: string;
  readonly specs: readonly FieldSpec[];
  /** The values before anything was typed, as drafts. */
  readonly initial: Draft;
  /** What was typed. */
  readonly draft: Draft;
  readonly errors: FormErrors;
  /** While the request is under way, the form cannot be sent again. */
  readonly isBusy: boolean;
  readonly submitLabel: string;
  /** The labels of related objects by field. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly children?: ComponentChildren;
  change(draft: Draft): void;
  submit(): void;
  close(): void;
}

/** A form for the fields of an object. Nothing in it has a name, so that it cannot be sent without the script. */
export function Form(props: FormProps): JSX.Element {
  const { title, specs, initial, draft, errors, isBusy, labels, change } = props;
  const prefix = useId();
  const form = useRef<HTMLFormElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const first = form.current?.querySelector<HTMLElement>('input, select, textarea');
    // A picker would open over the form.
    if (first && first.getAttribute('role') !== 'combobox') first.focus();
    else heading.current?.focus();
  }, []);
  useEffect(() => {
    const first = form.current?.querySelector<HTMLElement>('[aria-invalid]');
    (first ?? form.current?.querySelector<HTMLElement>('[role=alert]'))?.focus();
  }, [errors]);
  const writable = specs.filter(({ readOnly }) => !readOnly);
  const fixed = specs.filter(
    ({ readOnly, name, kind }) => readOnly && kind !== 'link' && initial[name] !== undefined,
  );
  return (
    <form
      ref={form}
      class="form"
      noValidate
      aria-label={title}
      aria-busy={isBusy}
      onSubmit={(event) => {
        event.preventDefault();
        // A form for a related object is inside of another form.
        event.stopPropagation();
        if (!isBusy && !hasIncompleteDate(event.currentTarget)) props.submit();
      }}
    >
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {errors.general.length > 0 && (
        <div class="problem" role="alert" tabIndex={-1}>
          {errors.general.map((message) => (
            <p key={message}>{escapeText(message)}</p>
          ))}
        </div>
      )}
      {props.children}
      {writable.map((spec) => (
        <FieldRow
          key={spec.name}
          spec={spec}
          id={`${prefix}-${spec.name}`}
          value={draft[spec.name] === undefined ? (initial[spec.name] ?? null) : (draft[spec.name] ?? null)}
          errors={errors}
          path={spec.name}
          label={draft[spec.name] === undefined ? labels?.[spec.name] : undefined}
          change={(value) => {
            change({ ...draft, [spec.name]: value });
          }}
        />
      ))}
      {fixed.map(({ name, label, kind }) => (
        <div key={name} class="field">
          <span class="label">{label}</span>
          <div class="input">
            <Value value={initial[name]} field={{ kind, label, nullable: true }} label={labels?.[name]} />
          </div>
          <span class="hint rule">{text('readOnly')}</span>
        </div>
      ))}
      <div class="row">
        <button type="submit" class="main" disabled={isBusy}>
          {props.submitLabel}
        </button>
        <button type="button" onClick={props.close} disabled={isBusy}>
          {text('discard')}
        </button>
      </div>
    </form>
  );
}

/** Shows the browser's message at a date or time that is incomplete. Such an input has no value: what was typed would be lost. */
function hasIncompleteDate(form: HTMLFormElement): boolean {
  const dates = form.querySelectorAll<HTMLInputElement>('[type=date], [type=time], [type=datetime-local]');
  const found = [...dates].find(({ validity }) => validity.badInput);
  found?.reportValidity();
  return found !== undefined;
}
