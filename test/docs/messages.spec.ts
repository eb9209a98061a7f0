// @tags core
import { expect, test } from '@jest/globals';
import { en } from '../../ui/src/messages/en.js';
import { readDocument } from './document.js';

const PAGE = readDocument('docs/reference/browsable-messages.md');

test('docs/reference/browsable-messages.md has each text of the browsable page under its name, in the order of the source', () => {
  const shown = [...PAGE.text.matchAll(/^\| `(\w+)` \| `(.*)` \|$/gm)].map(([, name, text]) => [name, text]);
  expect(shown).toEqual(Object.entries(en));
});
