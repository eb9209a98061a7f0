import { exactMember } from '../api/parse-json.js';
import type { JSX } from 'preact';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { isIndex } from '../api/load.js';
import type { Loaded } from '../api/load.js';
import type { Row } from '../api/page.js';
import { pathOf, withSlash } from '../api/urls.js';
import { Actions } from './Actions.js';
import { usePage } from './context.js';
import { countsOf } from './counts.js';
import { Downloads } from './Downloads.js';
import { referenceUrl, targetUrl } from './reference.js';
import { isObjectUrl } from './title.js';
import { ObjectForms } from '../forms/ObjectForms.js';
import { TrashForms } from '../forms/TrashForms.js';
import { Tabs } from './Tabs.js';
import { trashOf } from './trash.js';
import { Value } from './Value.js';

/** The fields of one object, and the lists below it. */
export function ObjectView({ loaded }: { readonly loaded: Loaded }): JSX.Element {
  const { reply, url, parent } = loaded;
  const description = descriptionOf(loaded);
  // At the URL of a list, a method of the application may respond with one object.
  const object = description && isObjectUrl(description) ? description : undefined;
  if (typeof reply.value !== 'object' || reply.value === null)
    return <Value value={reply.value} field={undefined} full />;
  const row = reply.value as Row;
  const labels = labelsOf(row, description);
  const trash = object && trashOf(object, url, row);
  return (
    <>
      {parent && <Tabs path={parent.path} description={parent.description} />}
      {object && !trash && (
        <Tabs path={withSlash(pathOf(url))} description={object} counts={countsOf(row, object)} />
      )}
      {description && (
        <div class="tools">
          <Downloads description={description} />
        </div>
      )}
      {object && trash && <TrashForms key={pathOf(url)} description={object} trash={trash} row={row} />}
      {object && !trash && (
        <ObjectForms key={pathOf(url)} description={object} row={row} labels={labels} parent={parent} />
      )}
      <Fields row={row} description={description} labels={labels} />
      {object && !trash && <Actions description={object} isObject />}
    </>
  );
}

function descriptionOf({ description }: Loaded): RouteDescription | undefined {
  return description && !isIndex(description) ? description : undefined;
}

/** The labels that were requested. */
function labelsOf(row: Row, description: RouteDescription | undefined): FieldsProps['labels'] {
  return description?.with === undefined ? undefined : (row.labels as FieldsProps['labels']);
}

interface FieldsProps {
  readonly row: Row;
  readonly description: RouteDescription | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/** All members of an object, by their labels. */
function Fields({ row, description, labels }: FieldsProps): JSX.Element {
  const { links } = usePage();
  const counts = countsOf(row, description);
  const names = Object.keys(row).filter(
    (name) => !(labels && name === 'labels') && !(counts && name === 'counts'),
  );
  return (
    <dl class="fields">
      {names.map((name) => (
        <div key={name}>
          <dt>
            {description?.fields[name]?.label ?? name} <code class="hint">{name}</code>
          </dt>
          <dd>
            <Value
              value={exactMember(row, name)}
              field={description?.fields[name]}
              label={labels?.[name]}
              count={counts?.[name]}
              href={targetUrl({ value: row[name], name, description }, links)}
              hrefOf={(key) => referenceUrl(key, description?.relations[name], links)}
              full
            />
          </dd>
        </div>
      ))}
    </dl>
  );
}
