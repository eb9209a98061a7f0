import { isIndex } from '../api/load.js';
import type { Loaded } from '../api/load.js';
import type { Row } from '../api/page.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { labelOf } from '../values/label.js';

/** The heading of a URL: the label of its object, or the name of its list. */
export function titleOf({ description, reply, url }: Loaded): string {
  if (isIndex(description)) return text('index');
  if (!description) return url;
  const { kind, name } = description;
  if (kind !== 'object' && kind !== 'through-object') return name.replace(/ List$/, '');
  const model = name.replace(/ Instance$/, '');
  const isObject = reply.status < 400 && typeof reply.value === 'object' && reply.value !== null;
  const label = isObject ? labelOf(reply.value as Row, description) : '';
  return label === '' ? model : `${model}: ${escapeText(label)}`;
}
