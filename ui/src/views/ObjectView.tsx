import type { JSX } from 'preact';
import { isIndex } from '../api/load.js';
import type { Loaded } from '../api/load.js';
import type { Row } from '../api/page.js';
import { pathOf, withSlash } from '../api/urls.js';
import { Actions } from './Actions.js';
import { usePage } from './context.js';
import { Downloads } from './Downloads.js';
import { targetUrl } from './reference.js';
import { ObjectForms } from '../forms/ObjectForms.js';
import { Tabs } from './Tabs.js';
import { Value } from './Value.js';

/** The fields of one object, and the lists below it. */
export function ObjectView({ loaded }: { readonly loaded: Loaded }): JSX.Element {
  const { links } = usePage();
  const { reply, url, parent } = loaded;
  const description = loaded.description && !isIndex(loaded.description) ? loaded.description : undefined;
  if (typeof reply.value !== 'object' || reply.value === null)
    return <Value value={reply.value} field={undefined} full />;
  const row = reply.value as Row;
  const labels =
    description?.with === undefined
      ? undefined
      : (row.labels as Readonly<Record<string, string>> | undefined);
  const names = Object.keys(row).filter((name) => labels === undefined || name !== 'labels');
  return (
    <>
      {parent && <Tabs path={parent.path} description={parent.description} />}
      {description && <Tabs path={withSlash(pathOf(url))} description={description} />}
      {description && (
        <div class="tools">
          <Downloads description={description} />
        </div>
      )}
      {description && (
        <ObjectForms key={pathOf(url)} description={description} row={row} labels={labels} parent={parent} />
      )}
      <dl class="fields">
        {names.map((name) => (
          <div key={name}>
            <dt>
              {description?.fields[name]?.label ?? name} <code class="hint">{name}</code>
            </dt>
            <dd>
              <Value
                value={row[name]}
                field={description?.fields[name]}
                label={labels?.[name]}
                href={targetUrl({ value: row[name], name, description }, links)}
                full
              />
            </dd>
          </div>
        ))}
      </dl>
      {description && <Actions description={description} isObject />}
    </>
  );
}
