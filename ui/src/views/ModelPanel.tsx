import type { JSX } from 'preact';
import type { FieldDescription } from '../../../src/core/contracts/field-description.js';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { text } from '../messages/messages.js';

/** The fields of a model with their types and rules, for what the caller may write here. */
export function ModelPanel({ description }: { readonly description: RouteDescription }): JSX.Element {
  const written = description.actions.POST ?? description.actions.PUT;
  const names = [...new Set([...Object.keys(description.fields), ...Object.keys(written ?? {})])];
  return (
    <details class="panel">
      <summary>{text('schema')}</summary>
      {!written && <p class="hint">{text('noWrites')}</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label={text('schema')}>
        <table>
          <thead>
            <tr>
              <th scope="col">{text('field')}</th>
              <th scope="col">{text('type')}</th>
              <th scope="col">{text('rules')}</th>
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>{description.fields[name]?.kind ?? written?.[name]?.type}</td>
                <td>{rulesOf(name, description, written?.[name]).join(', ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function rulesOf(
  name: string,
  { fields }: RouteDescription,
  written: FieldDescription | undefined,
): readonly string[] {
  const nullable = fields[name]?.nullable === true ? [text('nullable')] : [];
  if (!written || written.read_only) return [...(written ? [text('readOnly')] : []), ...nullable];
  const { max_length, min_length, min_value, max_value, choices } = written;
  return [
    text(written.required ? 'required' : 'optional'),
    ...nullable,
    ...(min_length === undefined ? [] : [text('minLength', { count: min_length })]),
    ...(max_length === undefined ? [] : [text('maxLength', { count: max_length })]),
    ...(min_value === undefined ? [] : [text('minValue', { value: min_value })]),
    ...(max_value === undefined ? [] : [text('maxValue', { value: max_value })]),
    ...(choices
      ? [text('choices', { values: choices.map(({ display_name }) => display_name).join(', ') })]
      : []),
  ];
}
