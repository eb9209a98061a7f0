import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { FieldInput } from './FieldInput.js';
import type { InputProps } from './FieldInput.js';
import { NO_ERRORS } from './field-errors.js';
import type { FormErrors } from './field-errors.js';
import type { FieldSpec } from './field-spec.js';

/** One field of a form: its label, its rules, its input, and its messages until it is edited. */
export function FieldRow(props: InputProps): JSX.Element {
  const { spec, id, path, change } = props;
  const [seen, setSeen] = useState<FormErrors>();
  // The fields of embedded objects and of children have messages of their own.
  const isEdited = seen === props.errors && !spec.children && !spec.nested;
  const errors = isEdited ? NO_ERRORS : props.errors;
  const messages = props.errors.fields[path] ?? [];
  return (
    <div class={messages.length > 0 && !isEdited ? 'field wrong' : 'field'}>
      <label for={id}>
        {spec.label} {spec.required && <span class="hint">({text('required')})</span>}
      </label>
      <div class="input">
        <FieldInput
          {...props}
          errors={errors}
          change={(value) => {
            setSeen(props.errors);
            change(value);
          }}
        />
      </div>
      <span class="hint rule">{ruleOf(spec)}</span>
      {messages.length > 0 && (
        // What is below must not move while one types.
        <ul id={`${id}-errors`} class={isEdited ? 'errors edited' : 'errors'}>
          {messages.map((message) => (
            <li key={message}>{escapeText(message)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function ruleOf(spec: FieldSpec): string {
  const { kind, hasDefault, nested } = spec;
  if (nested) return '';
  return [
    ...limitsOf(spec),
    ...(kind === 'json' || kind === 'list' ? ['JSON'] : []),
    ...(kind === 'datetime' ? [text('localTime')] : []),
    ...(hasDefault === true ? [text('hasDefault')] : []),
  ].join(', ');
}

function limitsOf({ kind, minLength, maxLength, minValue, maxValue }: FieldSpec): readonly string[] {
  const isBounded = kind === 'float' || (kind === 'integer' && !isWholeRange(minValue, maxValue));
  return [
    ...(minLength === undefined ? [] : [minLengthRule(minLength)]),
    ...(maxLength === undefined ? [] : [text('maxLength', { count: maxLength })]),
    ...(minValue === undefined || !isBounded ? [] : [text('minValue', { value: minValue })]),
    ...(maxValue === undefined || !isBounded ? [] : [text('maxValue', { value: maxValue })]),
  ];
}

/** The range of the column's own type says nothing to people. */
function isWholeRange(min: number | undefined, max: number | undefined): boolean {
  return (min ?? 0) <= -2_147_483_648 && (max ?? 0) >= 2_147_483_647;
}

function minLengthRule(count: number): string {
  return count === 1 ? text('minLengthOne') : text('minLength', { count });
}
