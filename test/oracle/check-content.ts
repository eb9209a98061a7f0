import { isDeepStrictEqual } from 'node:util';
import type { ApiDocument } from './api-document.js';
import type { Exchange } from './check-outcome.js';
import { differingField, isObject } from './same-value.js';
import type { State } from './state.js';
import type { Problem } from './step.js';

/** Checks whether a response contains the values that were written, and the rows that were requested. */
export function checkContent(document: ApiDocument, state: State, exchange: Exchange): readonly Problem[] {
  const { step, answer, operation } = exchange;
  if (answer.status >= 400 || answer.status === 304 || !operation) return [];
  if (answer.json === undefined) return [];
  const target = step.target === undefined ? undefined : state.objects.get(step.target);
  if (target?.alive === 'no') return [{ rule: 'shows what was deleted', detail: answer.text.slice(0, 300) }];
  if (step.method !== 'GET') return checkWritten(document, exchange);
  if (target && !step.operation.includes('/', step.operation.indexOf('{pk}') + 4))
    return step.path.endsWith('.path⟧') ? checkRetrieved(state, exchange, target.id) : [];
  return checkList(exchange);
}

/** The response to a write contains the sent values. */
function checkWritten(
  document: ApiDocument,
  { step, sent, answer, operation }: Exchange,
): readonly Problem[] {
  const { body } = sent;
  if (step.intent.kind !== 'fits' && step.intent.kind !== 'known-state') return [];
  const schema = operation?.body?.schema;
  if (!schema || !isObject(body) || !isObject(answer.json)) return [];
  const one = [schema, ...((document.resolve(schema).anyOf ?? []) as (typeof schema)[])].find(
    (each) => document.resolve(each).properties !== undefined && document.fits(each, body),
  );
  // A client may request an object instead of a key, send objects where a link is shown (contract 25.1), and change a list of keys by
  // verbs (contract 24.2).
  const compared = Object.fromEntries(
    Object.entries(answer.json).filter(
      ([name, shown]) =>
        (!isObject(shown) || isObject(body[name])) &&
        !(typeof shown === 'string' && holdsObjects(body[name])) &&
        !(Array.isArray(shown) && isObject(body[name])),
    ),
  );
  const field = one && differingField(document, one, { sent: body, shown: compared });
  if (field === undefined) return [];
  return [
    {
      rule: `shows another value than was sent for ${field}`,
      detail: `sent ${JSON.stringify(body[field])}, shown ${JSON.stringify(answer.json[field])}`,
    },
  ];
}

/** Whether a field of a body has objects: new ones as a list, or by verbs. */
function holdsObjects(sent: unknown): boolean {
  return isObject(sent) || (Array.isArray(sent) && sent.some(isObject));
}

/** The same caller reads the same object until the next write. */
function checkRetrieved(state: State, { step, answer }: Exchange, id: string): readonly Problem[] {
  const object = state.objects.get(id);
  if (!object || object.body === undefined || object.actor !== step.actor || object.writes !== state.writes)
    return [];
  if (step.query.length > 0) return [];
  if (isDeepStrictEqual(object.body, answer.json)) return [];
  return [
    {
      rule: 'retrieves another object than was written',
      detail: `${answer.text.slice(0, 500)} and not ${JSON.stringify(object.body).slice(0, 500)}`,
    },
  ];
}

/** A parameter with the name of a field selects the rows with this value: "`votes` equals this value." */
function checkList({ step, sent, answer, operation }: Exchange): readonly Problem[] {
  const rows = rowsOf(answer.json);
  if (step.intent.kind !== 'fits') return [];
  const equal = new Map(
    sent.query.filter(([name]) =>
      isEquality(operation?.parameters.find((each) => each.name === name)?.description, name),
    ),
  );
  for (const [name, value] of equal) {
    const wrong = rows.find((row) => name in row && value !== '' && !isShownAs(row[name], value));
    if (wrong)
      return [
        {
          rule: `lists what the filter ${name} leaves out`,
          detail: `${name}=${value}: ${JSON.stringify(wrong).slice(0, 300)}`,
        },
      ];
  }
  return [];
}

function isEquality(description: string | undefined, name: string): boolean {
  return description === `\`${name}\` equals this value.`;
}

function isShownAs(shown: unknown, value: string): boolean {
  if (typeof shown === 'object') return true;
  const text = String(shown);
  if (text === value || Number(text) === Number(value)) return true;
  return Date.parse(text) === Date.parse(value);
}

/** The rows of a list, or of a page in its envelope. */
export function rowsOf(json: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(json)) return json.filter(isObject);
  if (!isObject(json)) return [];
  const list = Object.values(json).find(Array.isArray);
  return (list ?? []).filter(isObject);
}
