import { expect, test } from '@jest/globals';
import { isRestException } from '../../core/errors/rest-exception.js';
import { assertAcceptsJson } from './negotiate-format.stage.js';

const LONG = 100_000;

/** Whether JSON may be sent, and the answer where it may not. */
function outcome(accept: string | undefined): unknown {
  try {
    assertAcceptsJson(accept);
    return 'JSON';
  } catch (error) {
    if (isRestException(error)) return error.response;
    throw error;
  }
}

const REFUSED = { status: 406, body: { detail: 'Could not satisfy the request Accept header.' } };

test.each([
  undefined,
  '',
  ' ',
  '*/*',
  'application/json',
  'application/*',
  'Application/JSON',
  ' application/json ',
  'application/json; charset=utf-8',
  'application/json; indent=4',
  'application/json;q=0.001',
  'application/json;q=1.0',
  'application/json ; q=0.5',
  'application/json;Q=0.5',
  'text/html, */*;q=0.1',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'text/html, application/json',
  'text/html;q=0.9,application/*;q=0.2',
  'text/html,\tapplication/json',
  ',application/json,',
  'application/json, */*;q=0',
  'application/json;q=0.1, application/*;q=0, */*;q=0',
  'application/*, */*;q=0',
  'application/json;q=0, application/json',
  `${'text/html,'.repeat(LONG)}application/json`,
  `application/json;${'a=b;'.repeat(LONG)}q=1`,
])('accepts JSON: %#', (accept) => {
  expect(outcome(accept)).toBe('JSON');
});

test.each([
  'text/html',
  'text/*',
  'application/xml',
  'application/vnd.api+json',
  'application/json-patch+json',
  'application/jsonp',
  'application/jso',
  '*/json',
  'json',
  'text/json',
  'image/png, text/html;q=0.8',
  'application/json;q=0',
  'application/json;q=0.0',
  'application/json; q=0.000',
  'application/json;Q=0',
  '*/*;q=0',
  'application/*;q=0',
  'application/json;q=0, */*',
  'application/json;q=0, application/*;q=1, */*;q=1',
  'application/*;q=0, */*',
  '*/*, application/json;q=0',
  'text/html, application/json;q=0',
  'text/html,'.repeat(LONG),
  'a'.repeat(LONG),
  '/'.repeat(LONG),
])('does not accept JSON: %#', (accept) => {
  expect(outcome(accept)).toEqual(REFUSED);
});
