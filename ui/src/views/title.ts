import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { isIndex } from '../api/load.js';
import type { Loaded, ParentObject } from '../api/load.js';
import type { Row } from '../api/page.js';
import { summaryOf } from '../api/summary.js';
import { parentPath, pathOf, withSlash } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { labelOf, listNameOf, modelNameOf } from '../values/label.js';

/** The heading of a URL: the label of its object, or the name of its list. */
export function titleOf({ description, reply, url, parent }: Loaded): string {
  if (reply.status === 401) return text('loginNeeded');
  if (isIndex(description)) return text('index');
  if (!description) return parent ? listTitle(parent, withSlash(pathOf(url)), false) : url;
  const isObject = isObjectUrl(description);
  if (!isObject) {
    const list = parent ? listTitle(parent, withSlash(pathOf(url)), false) : listNameOf(description);
    return summaryOf(url, description) ? text('summaryOf', { list }) : list;
  }
  const list = parent ? listTitle(parent, withSlash(pathOf(url)), true) : modelNameOf(description);
  const isRead = reply.status < 400 && typeof reply.value === 'object' && reply.value !== null;
  const label = isRead ? objectLabelOf(reply.value as Row, description, parent) : '';
  return label === '' ? list : `${list}: ${escapeText(label)}`;
}

/** A through object is named by the object at its other side, any other one by its own label. */
export function objectLabelOf(
  row: Row,
  description: RouteDescription,
  parent: ParentObject | undefined,
): string {
  const labels = Object.values((row.labels ?? {}) as Readonly<Record<string, string>>);
  const others = labels.filter((label) => label !== parent?.label);
  const [other] = others;
  const isNamedByOther = description.kind === 'through-object' && others.length === 1;
  return isNamedByOther && other !== undefined ? other : labelOf(row, description);
}

/** Whether a URL is that of one object. */
export function isObjectUrl({ kind }: RouteDescription): boolean {
  return kind === 'object' || kind === 'through-object';
}

/** The list below an object: `Choices of “Which day suits?”`. */
function listTitle(parent: ParentObject, path: string, isObject: boolean): string {
  const list = isObject ? (parentPath(path) ?? path) : path;
  return text('listOf', { list: nestedLabel(parent, list), object: nameOf(parent) });
}

/** The label of a list below an object. @param list its path, with a slash at the end. */
export function nestedLabel({ path, description }: ParentObject, list: string): string {
  const segment = list.slice(path.length).replace(/\/$/, '');
  return description.nested.find(({ name }) => name === segment)?.label ?? segment;
}

function nameOf({ label, path, description }: ParentObject): string {
  if (label !== undefined && label !== '') return `“${escapeText(label)}”`;
  const key = path.split('/').filter(Boolean).at(-1) ?? '';
  return `${modelNameOf(description)} ${escapeText(decodeKey(key))}`;
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
