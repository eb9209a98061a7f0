import type { QueryRunner } from 'typeorm';
import { InvalidInput } from '../../../core/errors/http-exceptions.js';
import { addErrors, emptyFieldErrors, errorAt } from '../../../core/errors/rest-exception.js';
import { conjunction } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { HiddenKey } from '../../../core/query/plan.js';
import { noSuchKey } from '../../../core/values/keys.js';
import type { WriterTools } from './row-writer.js';

/** @throws InvalidInput if the written row has a key of several tables that refers to a hidden row in one of them. */
export async function rejectHiddenKeys(
  keys: readonly HiddenKey[],
  {
    stored,
    reader,
    runner,
  }: {
    readonly stored: Condition;
    readonly reader: Pick<WriterTools['reader'], 'retrieveWithin'>;
    readonly runner: QueryRunner;
  },
): Promise<void> {
  const errors = emptyFieldErrors();
  const named = new Set<string>();
  for (const { where, parts } of keys) {
    if (!(await reader.retrieveWithin(conjunction([stored, where]), runner))) continue;
    for (const { path, value } of parts) {
      if (!named.has(path.join('.'))) addErrors(errors, errorAt(path, noSuchKey(String(value))));
      named.add(path.join('.'));
    }
  }
  if (named.size > 0) throw new InvalidInput(errors);
}
