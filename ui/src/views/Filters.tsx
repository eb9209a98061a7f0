import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { alternatives } from '../api/groups.js';
import type { Comparison } from '../api/groups.js';
import { parametersOf, pathOf, withoutParameters } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { shorten } from '../values/format.js';
import { usePage } from './context.js';
import { activeFilters, filtersByField, labelOfField, labelOfLookup, withFilters } from './filter-state.js';
import { FilterValue } from './FilterValue.js';
import { Link } from './Link.js';
import { Menu } from './Menu.js';

interface FiltersProps {
  readonly description: RouteDescription;
}

/** The active filters of a list, and a form that adds one of those that the model offers. */
export function Filters({ description }: FiltersProps): JSX.Element {
  const { url } = usePage();
  const active = activeFilters(description, url);
  return (
    <>
      <Menu key={pathOf(url)} label={text('filters')} isWide>
        <div>
          <FilterForm description={description} />
          {description.groups !== undefined && (
            <GroupForm description={description} parameter={description.groups} />
          )}
        </div>
      </Menu>
      {active.length > 0 && (
        <ul class="chips" aria-label={text('filters')}>
          {active.map(({ name, label }) => (
            <li key={name}>
              <bdi>{escapeText(shorten(label))}</bdi>
              <Link href={withoutParameters(url, [name])} label={text('removeFilter', { name: label })}>
                ×
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Adds a comparison to the URL, or to its group of alternatives. */
function FilterForm({ description }: FiltersProps): JSX.Element {
  const { url, navigate } = usePage();
  const byField = filtersByField(description);
  const [field, setField] = useState([...byField.keys()][0] ?? '');
  const [lookup, setLookup] = useState(0);
  const [value, setValue] = useState('');
  const [pending, setPending] = useState<readonly Comparison[]>([]);
  const filters = byField.get(field) ?? [];
  const filter = filters[lookup] ?? filters[0];
  if (!filter) return <p>{text('filters')}</p>;
  const { groups } = description;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (pending.length === 0 || groups === undefined)
      navigate(withFilters(url, { [filter.name]: value }, description));
    else
      navigate(
        withFilters(url, { [groups]: alternatives([...pending, { name: filter.name, value }]) }, description),
      );
    setPending([]);
  };
  return (
    <form class="row" onSubmit={submit}>
      <label>
        {text('field')}
        <select
          value={field}
          onChange={(event) => {
            setField(event.currentTarget.value);
            setLookup(0);
            setValue('');
          }}
        >
          {[...byField.keys()].map((each) => (
            <option key={each} value={each}>
              {labelOfField(each, description)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {text('comparison')}
        <select
          value={String(filters.indexOf(filter))}
          onChange={(event) => {
            setLookup(Number(event.currentTarget.value));
            setValue('');
          }}
        >
          {filters.map((each, at) => (
            <option key={each.name} value={String(at)}>
              {labelOfLookup(each)}
            </option>
          ))}
        </select>
      </label>
      <FilterValue
        key={filter.name}
        filter={filter}
        relation={description.relations[filter.field]}
        value={value}
        change={setValue}
      />
      <button type="submit" class="main">
        {text('apply')}
      </button>
      {groups !== undefined && (
        <button
          type="button"
          disabled={value === ''}
          onClick={() => {
            setPending([...pending, { name: filter.name, value }]);
            setValue('');
          }}
        >
          {text('addAlternative')}
        </button>
      )}
      {pending.length > 0 && <code class="pending">{alternatives(pending)}</code>}
    </form>
  );
}

function GroupForm({ description, parameter }: FiltersProps & { readonly parameter: string }): JSX.Element {
  const { url, navigate } = usePage();
  const [expression, setExpression] = useState(parametersOf(url).get(parameter) ?? '');
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        navigate(withFilters(url, { [parameter]: expression }, description));
      }}
    >
      <label class="grow">
        {text('groupLabel')}
        <input
          type="text"
          value={expression}
          placeholder={text('groupHint')}
          spellcheck={false}
          onInput={(event) => {
            setExpression(event.currentTarget.value);
          }}
        />
      </label>
      <button type="submit">{text('apply')}</button>
    </form>
  );
}
