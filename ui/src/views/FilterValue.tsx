import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type {
  FilterDescription,
  RelationDescription,
} from '../../../src/core/contracts/route-description.js';
import { NO_ERRORS } from '../forms/field-errors.js';
import type { FieldSpec } from '../forms/field-spec.js';
import { Picker } from '../forms/Picker.js';
import { text } from '../messages/messages.js';
import { fromLocalInput, toLocalInput } from '../values/local-time.js';

interface FilterValueProps {
  readonly filter: FilterDescription;
  /** The relation whose keys are compared; undefined for other fields. */
  readonly relation?: RelationDescription | undefined;
  readonly value: string;
  change(value: string): void;
}

/** The field of a related object. */
const RELATED: FieldSpec = {
  name: 'value',
  label: '',
  kind: 'to-one',
  required: true,
  readOnly: false,
  nullable: false,
};

/** The input for the value of a filter, by its type. */
export function FilterValue({ filter, relation, value, change }: FilterValueProps): JSX.Element {
  const id = useId();
  if (relation && (filter.lookup === 'exact' || filter.lookup === 'ne'))
    return (
      <div>
        <label for={id}>{text('value')}</label>
        <Picker
          spec={{ ...RELATED, label: text('value'), relation }}
          id={id}
          value={value}
          errors={NO_ERRORS}
          path={filter.name}
          creates={false}
          change={(key) => {
            change(typeof key === 'string' ? key : '');
          }}
        />
      </div>
    );
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

interface ChoiceValueProps extends Omit<FilterValueProps, 'filter' | 'relation'> {
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
