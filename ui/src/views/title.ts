import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { isIndex } from '../api/load.js';
import type { Loaded, ParentObject } from '../api/load.js';
import type { Row } from '../api/page.js';
import { parentPath, pathOf, withSlash } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { labelOf, modelNameOf } from '../values/label.js';

/** The heading of a URL: the label of its object, or the name of its list. */
export function titleOf({ description, reply, url, parent }: Loaded): string {
  if (reply.status === 401) return text('loginNeeded');
  if (isIndex(description)) return text('index');
  if (!description) return url;
  const isObject = isObjectUrl(description);
  const list = parent ? listTitle(parent, withSlash(pathOf(url)), isObject) : modelNameOf(description);
  if (!isObject) return list;
  const isRead = reply.status < 400 && typeof reply.value === 'object' && reply.value !== null;
  const label = isRead ? labelOf(reply.value as Row, description) : '';
  return label === '' ? list : `${list}: ${escapeText(label)}`;
}

/** Whether a URL is that of one object. */
export function isObjectUrl({ kind }: RouteDescription): boolean {
  return kind === 'object' || kind === 'through-object';
}

/** The list below an object: `Choices of “Which day suits?”`. */
function listTitle(parent: ParentObject, path: string, isObject: boolean): string {
  const list = isObject ? (parentPath(path) ?? path) : path;
  const segment = list.slice(parent.path.length).replace(/\/$/, '');
  const nested = parent.description.nested.find(({ name }) => name === segment);
  return text('listOf', { list: nested?.label ?? segment, object: nameOf(parent) });
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
