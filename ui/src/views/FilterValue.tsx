import type { JSX } from 'preact';
import type { FilterDescription } from '../../../src/core/contracts/route-description.js';
import { text } from '../messages/messages.js';
import { fromLocalInput, toLocalInput } from '../values/local-time.js';

interface FilterValueProps {
  readonly filter: FilterDescription;
  readonly value: string;
  change(value: string): void;
}

/** The input for the value of a filter, by its type. */
export function FilterValue({ filter, value, change }: FilterValueProps): JSX.Element {
  if (filter.lookup === 'range') return <RangeValue filter={filter} value={value} change={change} />;
  if (filter.type === 'boolean') {
    const choices = [
      { value: 'true', display_name: text('yes') },
      { value: 'false', display_name: text('no') },
    ];
    return <ChoiceValue choices={choices} value={value} change={change} />;
  }
  if (filter.choices && !filter.list)
    return <ChoiceValue choices={filter.choices} value={value} change={change} />;
  return (
    <label>
      {text('value')}
      <Input filter={filter} value={value} change={change} />
    </label>
  );
}

interface ChoiceValueProps extends Omit<FilterValueProps, 'filter'> {
  readonly choices: NonNullable<FilterDescription['choices']>;
}

function ChoiceValue({ choices, value, change }: ChoiceValueProps): JSX.Element {
  return (
    <label>
      {text('value')}
      <select
        value={value}
        required
        onChange={(event) => {
          change(event.currentTarget.value);
        }}
      >
        <option value="">{text('any')}</option>
        {choices.map((choice) => (
          <option key={choice.value} value={String(choice.value)}>
            {choice.display_name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Both ends of a range, which are included. */
function RangeValue({ filter, value, change }: FilterValueProps): JSX.Element {
  const [from = '', to = ''] = value.split(',');
  return (
    <>
      <label>
        {text('from')}
        <Input
          filter={filter}
          value={from}
          change={(next) => {
            change(`${next},${to}`);
          }}
        />
      </label>
      <label>
        {text('to')}
        <Input
          filter={filter}
          value={to}
          change={(next) => {
            change(`${from},${next}`);
          }}
        />
      </label>
    </>
  );
}

function Input({ filter, value, change }: FilterValueProps): JSX.Element {
  const isSeveral = filter.list && filter.lookup !== 'range';
  const type = isSeveral ? 'text' : inputType(filter);
  const isInstant = type === 'datetime-local';
  return (
    <input
      type={type}
      required
      step={type === 'number' || isInstant ? 'any' : undefined}
      value={isInstant ? toLocalInput(value) : value}
      placeholder={isSeveral ? text('valuesHint') : undefined}
      onInput={(event) => {
        change(isInstant ? fromLocalInput(event.currentTarget.value) : event.currentTarget.value);
      }}
    />
  );
}

/** Numbers that JavaScript cannot represent are texts. */
function inputType({ type }: FilterDescription): string {
  switch (type) {
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
