import { exactMember } from '../api/parse-json.js';
import type { JSX } from 'preact';
import type { OrderingDescription, RouteDescription } from '../../../src/core/contracts/route-description.js';
import type { ListPage, Row } from '../api/page.js';
import { parametersOf, withParameters } from '../api/urls.js';
import { isSelectable } from '../forms/bulk-url.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { shorten } from '../values/format.js';
import { keyTextOf, labelOf } from '../values/label.js';
import { usePage } from './context.js';
import { countsOf } from './counts.js';
import { Link } from './Link.js';
import { referenceUrl, targetUrl } from './reference.js';
import type { Selection } from './selection.js';
import { deletedIn, withDeleted } from './trash.js';
import { Value } from './Value.js';

interface TableProps {
  readonly page: ListPage;
  readonly description: RouteDescription | undefined;
  readonly columns: readonly string[];
  readonly selection?: Selection | undefined;
}

/** The rows of a list, each with a link to its object. */
export function Table({ page, description, columns, selection }: TableProps): JSX.Element {
  const { links, url } = usePage();
  const objects = description?.objects === undefined ? undefined : links.toLocal(description.objects);
  const deleted = deletedIn(url, description);
  const linked = objects === undefined ? undefined : linkedColumn(columns, description);
  return (
    // A region that scrolls must be reachable by the keyboard.
    <div class="scroll" tabIndex={0} role="region" aria-label={description?.name ?? text('list')}>
      <table>
        <thead>
          <tr>
            {selection && (
              <ChooseAll
                keys={page.rows.flatMap((row) => {
                  const key = keyTextOf(row, description?.key, description?.key_is_text);
                  return key !== undefined && isSelectable(key, description ?? {}) ? [key] : [];
                })}
                selection={selection}
              />
            )}
            {objects !== undefined && linked === undefined && (
              <th scope="col">
                <span class="hidden">{text('open')}</span>
              </th>
            )}
            {columns.map((name) => (
              <Header key={name} name={name} description={description} />
            ))}
          </tr>
        </thead>
        <tbody>
          {page.rows.map((row, at) => {
            const key = keyTextOf(row, description?.key, description?.key_is_text);
            const url =
              objects === undefined || key === undefined
                ? undefined
                : withDeleted(`${objects}${key}/`, description, deleted);
            return (
              <tr key={key ?? at}>
                {selection && (
                  <Choose row={row} rowKey={key} description={description} selection={selection} />
                )}
                {objects !== undefined && linked === undefined && (
                  <th scope="row" class="object">
                    {url !== undefined && <ObjectLink row={row} url={url} description={description} />}
                  </th>
                )}
                {columns.map((name) =>
                  name === linked && url !== undefined ? (
                    <th key={name} scope="row" class="object">
                      <ObjectLink row={row} url={url} description={description} shown={row[name]} />
                    </th>
                  ) : (
                    <td key={name}>
                      <Cell row={row} name={name} description={description} />
                    </td>
                  ),
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Kinds of fields whose values are written in a line without links of their own. */
const PLAIN: ReadonlySet<string | undefined> = new Set(['string', 'integer', 'bigint', 'uuid', 'enum']);

/** The column whose values link to their objects: the label, or the key; undefined where neither is a column with plain values. */
function linkedColumn(
  columns: readonly string[],
  description: RouteDescription | undefined,
): string | undefined {
  const [, label] = /^\{([^{}]+)\}$/.exec(description?.label ?? '') ?? [];
  return [label, ...(description?.key ?? [])].find(
    (name) => name !== undefined && columns.includes(name) && PLAIN.has(description?.fields[name]?.kind),
  );
}

interface ObjectLinkProps {
  readonly row: Row;
  readonly url: string;
  readonly description: RouteDescription | undefined;
  /** The value that is the text of the link. */
  readonly shown?: unknown;
}

function ObjectLink({ row, url, description, shown }: ObjectLinkProps): JSX.Element {
  const value = shown === undefined || shown === null ? '' : String(shown);
  return (
    <Link href={url} label={text('openObject', { name: escapeText(labelOf(row, description ?? NO_KEY)) })}>
      {value === '' ? text('open') : <bdi>{escapeText(shorten(value))}</bdi>}
    </Link>
  );
}

interface ChooseProps {
  readonly row: Row;
  readonly rowKey: string | undefined;
  readonly description: Pick<RouteDescription, 'key' | 'key_is_text' | 'label'> | undefined;
  readonly selection: Selection;
}

/** The check box of a row. */
function Choose({ row, rowKey, description = NO_KEY, selection }: ChooseProps): JSX.Element {
  if (rowKey === undefined) return <td />;
  const isOpen = isSelectable(rowKey, description);
  return (
    <td>
      <input
        type="checkbox"
        checked={selection.chosen.includes(rowKey)}
        disabled={!isOpen}
        title={isOpen ? undefined : text('notSelectable')}
        aria-label={text('chooseObject', { name: escapeText(labelOf(row, description)) })}
        onChange={(event) => {
          selection.choose([rowKey], event.currentTarget.checked);
        }}
      />
    </td>
  );
}

/** What is known of a list without a description. */
const NO_KEY: Pick<RouteDescription, 'key' | 'key_is_text' | 'label'> = {};

function ChooseAll({
  keys,
  selection,
}: {
  readonly keys: readonly string[];
  readonly selection: Selection;
}): JSX.Element {
  return (
    <th scope="col">
      <input
        type="checkbox"
        checked={keys.length > 0 && keys.every((key) => selection.chosen.includes(key))}
        aria-label={text('chooseAll')}
        onChange={(event) => {
          selection.choose(keys, event.currentTarget.checked);
        }}
      />
    </th>
  );
}

interface CellProps {
  readonly row: Row;
  readonly name: string;
  readonly description: RouteDescription | undefined;
}

/** One value; a member that the server has left out is shown as nothing. */
function Cell({ row, name, description }: CellProps): JSX.Element {
  const { links } = usePage();
  if (!Object.hasOwn(row, name)) return <span class="null" />;
  const labels = row.labels as Readonly<Record<string, string>> | undefined;
  const isLabelled = description?.with !== undefined && !Object.hasOwn(description.fields, 'labels');
  return (
    <Value
      value={exactMember(row, name)}
      field={description?.fields[name]}
      label={isLabelled ? labels?.[name] : undefined}
      count={countsOf(row, description)?.[name]}
      href={targetUrl({ value: row[name], name, description }, links)}
      hrefOf={(key) => referenceUrl(key, description?.relations[name], links)}
    />
  );
}

function Header({ name, description }: Omit<CellProps, 'row'>): JSX.Element {
  const { url } = usePage();
  const label = description?.fields[name]?.label ?? name;
  const { ordering } = description ?? {};
  if (!ordering?.fields.includes(name)) return <th scope="col">{label}</th>;
  const direction = directionOf(name, ordering, url);
  const next = direction === 'ascending' ? `-${name}` : name;
  return (
    <th scope="col" aria-sort={direction ?? 'none'}>
      <Link
        href={withParameters(url, orderChanges(next, description))}
        label={text('orderBy', { name: label })}
      >
        {label}
        <span aria-hidden="true" class="direction">
          {symbolOf(direction)}
        </span>
      </Link>
    </th>
  );
}

/** A new order begins with the first page. */
function orderChanges(
  order: string,
  description: RouteDescription | undefined,
): Readonly<Record<string, string | undefined>> {
  const position = description?.pagination?.position;
  const parameter = description?.ordering?.parameter ?? 'ordering';
  return { [parameter]: order, ...(position === undefined ? {} : { [position]: undefined }) };
}

type Direction = 'ascending' | 'descending';

function directionOf(
  name: string,
  { parameter, default: own }: OrderingDescription,
  url: string,
): Direction | undefined {
  const [first] = parametersOf(url).get(parameter)?.split(',') ?? own;
  const plain = first?.replace(/\.nulls(first|last)$/, '');
  if (plain === name) return 'ascending';
  return plain === `-${name}` ? 'descending' : undefined;
}

function symbolOf(direction: Direction | undefined): string {
  if (direction === undefined) return ' ↕';
  return direction === 'ascending' ? ' ↑' : ' ↓';
}
