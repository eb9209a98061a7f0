import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import type { Row } from '../api/page.js';
import { parametersOf, pathOf, withParameters } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { usePage } from './context.js';
import { Menu } from './Menu.js';

/** The columns of a table, and the way to choose them. */
export interface Columns {
  readonly all: readonly { readonly name: string; readonly label: string }[];
  readonly shown: readonly string[];
  /** @param names undefined for all. */
  choose(names: readonly string[] | undefined): void;
}

const NOT_COLUMNS: ReadonlySet<string> = new Set(['labels', 'counts']);

/**
 * The chosen columns: in the URL where the model selects fields, so that they can be sent to others; else in the tab.
 */
export function useColumns(
  description: RouteDescription | undefined,
  rows: readonly Row[],
  url: string,
): Columns {
  const { navigate } = usePage();
  const stored = `restify.columns ${pathOf(url)}`;
  const [, rerender] = useState(0);
  const known = Object.entries(description?.fields ?? {}).map(([name, { label }]) => ({ name, label }));
  const others = Object.keys(rows[0] ?? {})
    .filter((name) => !NOT_COLUMNS.has(name) && !known.some((each) => each.name === name))
    .map((name) => ({ name, label: name }));
  const all = [...known, ...others];
  const parameter = description?.shape?.fields;
  const chosen =
    parameter === undefined
      ? sessionStorage.getItem(stored)?.split(',')
      : parametersOf(url).get(parameter)?.split(',');
  const shown = all.map(({ name }) => name).filter((name) => chosen?.includes(name) ?? true);
  return {
    all,
    shown: shown.length > 0 ? shown : all.map(({ name }) => name),
    choose: (names) => {
      if (parameter !== undefined) {
        navigate(withParameters(url, { [parameter]: names?.join(',') }));
        return;
      }
      if (names) sessionStorage.setItem(stored, names.join(','));
      else sessionStorage.removeItem(stored);
      rerender((before) => before + 1);
    },
  };
}

/** Check boxes of columns. */
export function ColumnMenu({
  columns,
  label = text('columns'),
}: {
  readonly columns: Columns;
  readonly label?: string;
}): JSX.Element {
  const { all, shown, choose } = columns;
  const hidden = all.length - shown.length;
  const summary = hidden === 0 ? label : text('columnsHidden', { label, count: hidden });
  return (
    <Menu label={summary}>
      <fieldset>
        <legend class="hidden">{label}</legend>
        {all.map(({ name, label }) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={shown.includes(name)}
              disabled={shown.length === 1 && shown.includes(name)}
              onChange={(event) => {
                const isChosen = event.currentTarget.checked;
                choose(
                  all
                    .map((each) => each.name)
                    .filter((each) => (each === name ? isChosen : shown.includes(each))),
                );
              }}
            />
            {label}
          </label>
        ))}
        {shown.length < all.length && (
          <button
            type="button"
            onClick={() => {
              choose(undefined);
            }}
          >
            {text('allColumns')}
          </button>
        )}
      </fieldset>
    </Menu>
  );
}
