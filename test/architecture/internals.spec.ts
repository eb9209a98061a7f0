// @tags core
import { describe, expect, test } from '@jest/globals';
import { Linter } from 'eslint';
import { parser } from 'typescript-eslint';

interface LintConfig {
  readonly INTERNALS: readonly { readonly selector: string; readonly message: string }[];
}

/** Not a literal, because the file has no types. */
const CONFIG: string = '../../eslint.config.js';
const { INTERNALS } = (await import(CONFIG)) as LintConfig;

/** The lines of a source that the rule of `src/internals/` rejects. */
function offences(source: string): readonly number[] {
  return new Linter()
    .verify(
      source,
      {
        files: ['**/*.ts'],
        languageOptions: { parser: parser },
        rules: { 'no-restricted-syntax': ['error', ...INTERNALS] },
      },
      { filename: 'source.ts' },
    )
    .map(({ line }) => line);
}

describe('the lint rule of src/internals/', () => {
  test.each([
    ['a name with an underscore', 'socket._httpMessage;'],
    ['one that is taken out of an object', 'const { _nodes } = cluster;'],
    ['one in an interface', 'interface Cluster { readonly _nodes: object }'],
    ['a method in an interface', 'interface Passport { _strategy(name: string): unknown }'],
    ['a name that has moved', 'runner.transactionDepth;'],
    ['symbols that are looked for', 'Object.getOwnPropertySymbols(reply);'],
    ['symbols of others', "Symbol.for('opentelemetry.js.api.1');"],
    ["keys of Nest's metadata", "Reflect.getMetadata('__guards__', controller);"],
  ])('rejects %s', (_, source) => {
    expect(offences(source)).toContain(1);
  });

  test.each([
    ['symbols of this package', "Symbol.for('nestjs-restify.RestServer');"],
    ['parameters that are not used', 'const first = (_: unknown, _second: unknown): void => undefined;'],
    ['a key of JSON', "Object.hasOwn(value, '__proto__');"],
  ])('allows %s', (_, source) => {
    expect(offences(source)).toEqual([]);
  });
});
