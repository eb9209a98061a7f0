import type { JSX } from 'preact';
import { text } from '../messages/messages.js';
import { countBytes } from '../values/format.js';
import { ChildrenInput } from './ChildrenInput.js';
import type { Draft, FieldDraft } from './draft.js';
import type { FormErrors } from './field-errors.js';
import { FieldRow } from './FieldRow.js';
import type { FieldSpec } from './field-spec.js';
import { KeysInput } from './KeysInput.js';
import { Picker } from './Picker.js';
import { readBase64 } from './read-base64.js';

export interface InputProps {
  readonly spec: FieldSpec;
  /** The id of the input, which its label and messages refer to. */
  readonly id: string;
  readonly value: FieldDraft;
  readonly errors: FormErrors;
  /** The path of the field in the form: `address.city`. */
  readonly path: string;
  /** The label of the related object that the value refers to. */
  readonly label?: string | undefined;
  change(value: FieldDraft): void;
}

/** The input of one field, by its kind. */
export function FieldInput(props: InputProps): JSX.Element {
  if (props.spec.nested) return <ChildrenInput {...props} nested={props.spec.nested} />;
  switch (props.spec.kind) {
    case 'boolean':
      return <BooleanInput {...props} />;
    case 'enum':
      return <ChoiceInput {...props} />;
    case 'set':
      return <SetInput {...props} />;
    case 'to-one':
      return <Picker {...props} />;
    case 'keys':
      return <KeysInput {...props} />;
    case 'embedded':
      return <EmbeddedInput {...props} />;
    case 'binary':
      return <FileInput {...props} />;
    default:
      return props.spec.choices ? <ChoiceInput {...props} /> : <TextInput {...props} />;
  }
}

interface InvalidAttributes {
  readonly 'aria-invalid'?: true;
  readonly 'aria-describedby'?: string;
}

/** The attributes that tell screen readers that an input is wrong, and why. */
export function describedBy({
  id,
  errors,
  path,
}: Pick<InputProps, 'id' | 'errors' | 'path'>): InvalidAttributes {
  return errors.fields[path] ? { 'aria-invalid': true, 'aria-describedby': `${id}-errors` } : {};
}

function asText(value: FieldDraft): string {
  return typeof value === 'string' ? value : '';
}

/** Yes or no, and null where the field may be null. */
function BooleanInput(props: InputProps): JSX.Element {
  const { id, spec, value, change } = props;
  return (
    <select
      id={id}
      value={value === null ? '' : String(value)}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        change(chosen === '' ? null : chosen === 'true');
      }}
      {...describedBy(props)}
    >
      {(spec.nullable || value === null) && <option value="">{spec.nullable ? text('null') : '—'}</option>}
      <option value="true">{text('yes')}</option>
      <option value="false">{text('no')}</option>
    </select>
  );
}

function ChoiceInput(props: InputProps): JSX.Element {
  const { id, spec, value, change } = props;
  return (
    <select
      id={id}
      value={asText(value)}
      onChange={(event) => {
        change(event.currentTarget.value);
      }}
      {...describedBy(props)}
    >
      <option value="">{spec.nullable ? text('null') : '—'}</option>
      {spec.choices?.map(({ value: choice, display_name: name }) => (
        <option key={choice} value={String(choice)}>
          {name}
        </option>
      ))}
    </select>
  );
}

function SetInput(props: InputProps): JSX.Element {
  const { id, spec, value, change } = props;
  const chosen = Array.isArray(value) ? (value as readonly string[]) : [];
  return (
    <div id={id} class="choice" role="group" aria-label={spec.label} {...describedBy(props)}>
      {spec.choices?.map(({ value: choice, display_name: name }) => (
        <label key={choice} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(String(choice))}
            onChange={(event) => {
              const others = chosen.filter((each) => each !== String(choice));
              change(event.currentTarget.checked ? [...others, String(choice)] : others);
            }}
          />
          {name}
        </label>
      ))}
    </div>
  );
}

function EmbeddedInput({ spec, id, value, errors, path, change }: InputProps): JSX.Element {
  const given = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Draft) : {};
  return (
    <fieldset id={id} class="embedded">
      <legend class="hidden">{spec.label}</legend>
      <FieldRows
        id={id}
        specs={spec.children ?? []}
        draft={given}
        errors={errors}
        path={path}
        change={change}
      />
    </fieldset>
  );
}

interface FieldRowsProps extends Pick<InputProps, 'id' | 'errors' | 'path'> {
  readonly specs: readonly FieldSpec[];
  readonly draft: Draft;
  /** The values before anything was typed. */
  readonly initial?: Draft;
  change(draft: Draft): void;
}

/** The fields of an object inside of a form. */
export function FieldRows({ id, specs, draft, initial, errors, path, change }: FieldRowsProps): JSX.Element {
  return (
    <>
      {specs.map((spec) => (
        <FieldRow
          key={spec.name}
          spec={spec}
          id={`${id}-${spec.name}`}
          value={(draft[spec.name] === undefined ? initial?.[spec.name] : draft[spec.name]) ?? null}
          errors={errors}
          path={`${path}.${spec.name}`}
          change={(next) => {
            change({ ...draft, [spec.name]: next });
          }}
        />
      ))}
    </>
  );
}

/** A file, which is sent as base64. */
function FileInput(props: InputProps): JSX.Element {
  const { id, spec, value, change } = props;
  return (
    <>
      <input
        id={id}
        type="file"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file) void readBase64(file).then(change);
        }}
        {...describedBy(props)}
      />
      <span class="hint">
        {value === null ? text('null') : text('bytes', { count: countBytes(asText(value)) })}
      </span>
      {spec.nullable && value !== null && (
        <button
          type="button"
          class="small"
          onClick={() => {
            change(null);
          }}
        >
          {text('setNull')}
        </button>
      )}
    </>
  );
}

/** Texts, numbers, dates and JSON. Of a text that may be null, the empty text is told apart by a check box. */
function TextInput(props: InputProps): JSX.Element {
  const { id, spec, value, change } = props;
  const mayBeNullOrEmpty = spec.kind === 'string' && spec.nullable;
  return (
    <>
      <TextElement {...props} />
      {mayBeNullOrEmpty && (
        <label class="check">
          <input
            type="checkbox"
            checked={value === null}
            onChange={(event) => {
              change(event.currentTarget.checked ? null : '');
              document.getElementById(id)?.focus();
            }}
          />
          {text('null')}
        </label>
      )}
    </>
  );
}

/** Longer texts get several lines. */
const SHORT_LENGTH = 255;

function TextElement(props: InputProps): JSX.Element {
  const { kind, maxLength = Infinity } = props.spec;
  const isJson = kind === 'json' || kind === 'list';
  const isLong = isJson || (kind === 'string' && maxLength > SHORT_LENGTH);
  return isLong ? <LongInput {...props} isJson={isJson} /> : <ShortInput {...props} />;
}

function LongInput({ isJson, ...props }: InputProps & { readonly isJson: boolean }): JSX.Element {
  const { id, value, change } = props;
  const shown = asText(value);
  return (
    <textarea
      id={id}
      value={shown}
      rows={Math.min(12, Math.max(isJson ? 3 : 2, shown.split('\n').length))}
      class={isJson ? 'code' : ''}
      dir={isJson ? 'ltr' : 'auto'}
      spellcheck={!isJson}
      onInput={(event) => {
        change(event.currentTarget.value);
      }}
      {...describedBy(props)}
    />
  );
}

const PLACEHOLDERS: Partial<Readonly<Record<FieldSpec['kind'], string>>> = {
  interval: 'P1DT2H',
  time: '13:45:00',
};

function ShortInput(props: InputProps): JSX.Element {
  const { id, spec, value, change } = props;
  const type = typeOf(spec);
  const hasFraction = type === 'number' || type === 'datetime-local';
  return (
    <input
      id={id}
      type={type}
      value={asText(value)}
      dir={type === 'text' ? 'auto' : undefined}
      step={hasFraction ? 'any' : undefined}
      min={spec.minValue}
      max={spec.maxValue}
      placeholder={PLACEHOLDERS[spec.kind]}
      onInput={(event) => {
        change(event.currentTarget.value);
      }}
      {...describedBy(props)}
    />
  );
}

/** Numbers that JavaScript cannot represent are texts. */
function typeOf({ kind }: FieldSpec): string {
  switch (kind) {
    case 'integer':
    case 'float':
      return 'number';
    case 'date':
      return 'date';
    case 'datetime':
      return 'datetime-local';
    default:
      return 'text';
  }
}
