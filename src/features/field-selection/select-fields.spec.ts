import { expect, test } from '@jest/globals';
import type { Field } from '../../core/schema/field.js';
import { MAX_SELECTED_VIEWS } from '../../core/schema/limits.js';
import type { Resource } from '../../core/schema/resource.js';
import { parseFieldNames } from './parse-field-names.js';
import type { Choice } from './parse-field-names.js';
import { chooseFields } from './select-fields.js';

const NAMES = Array.from({ length: MAX_SELECTED_VIEWS + 1 }, (_, at) => `f${at}`);

/** What choosing looks at of a resource. */
function resourceOf(hidden: string): Resource {
  const fields = NAMES.map((name) => ({ kind: 'column', name, readable: name !== hidden }) as Field);
  return { fields, fieldsByName: new Map(fields.map((field) => [field.name, field])) } as unknown as Resource;
}

function only(names: string): Choice {
  return { only: parseFieldNames(names), omit: undefined };
}

test('the same choice is the same view, however it is asked for', () => {
  const resource = resourceOf('f1');
  const view = chooseFields(resource, only('f0,f2'));
  expect(chooseFields(resource, only(' f2,f0,f2,f1,nothing'))).toBe(view);
  expect(view.fields.filter(({ readable }) => readable).map(({ name }) => name)).toEqual(['f0', 'f2']);
  expect(chooseFields(resourceOf('f1'), only('f0,f2'))).not.toBe(view);
  expect(chooseFields(resource, { only: undefined, omit: undefined })).toBe(resource);
});

test('what was not asked for longest goes first', () => {
  const resource = resourceOf('');
  const [first, second] = [chooseFields(resource, only('f0')), chooseFields(resource, only('f1'))];
  for (const name of NAMES.slice(2)) {
    chooseFields(resource, only(name));
    chooseFields(resource, only('f0'));
  }
  expect(chooseFields(resource, only('f0'))).toBe(first);
  expect(chooseFields(resource, only('f1'))).not.toBe(second);
});
