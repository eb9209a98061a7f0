// @tags core
import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const TESTS = fileURLToPath(new URL('../', import.meta.url));
const SPECS = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.spec.ts') && !path.includes('node_modules'))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(TESTS, path), 'utf8') }));

const DECLARING: ReadonlySet<string> = new Set(['restify', 'declareUnchecked']);

/** What a file of tests changes of registries of the process, and does not restore. */
function unrestored(text: string): readonly string[] {
  const tree = ts.createSourceFile('spec.ts', text, ts.ScriptTarget.ES2022, true);
  const imported = new Set<string>();
  const restored = new Set<string>();
  const declared: string[] = [];
  const visitCall = ({ expression, arguments: given }: ts.CallExpression): void => {
    const names = given.filter(ts.isIdentifier).map((each) => each.text);
    const called = expression.getText();
    if (called === 'restoreDeclarationsOf') for (const name of names) restored.add(name);
    if (DECLARING.has(called)) declared.push(...names.slice(0, 1));
    if (called === 'passport.use') declared.push('passport');
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportSpecifier(node)) imported.add(node.name.text);
    if (ts.isImportClause(node) && node.name) imported.add(node.name.text);
    if (ts.isCallExpression(node)) visitCall(node);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return declared.filter((name) => imported.has(name) && !restored.has(name));
}

test('a file of tests restores what it declares of shared classes, and registers with Passport', () => {
  expect(SPECS.length).toBeGreaterThan(100);
  const all = SPECS.map(({ path, text }) => [path, unrestored(text)] as const);
  expect(all.filter(([, names]) => names.length > 0)).toEqual([]);
});

test.each([
  ["import { Shared } from './shared.js'; restify(Shared, 'a');", ['Shared']],
  ["import { Shared } from './shared.js'; restoreDeclarationsOf(Shared); restify(Shared, 'a');", []],
  ["class Own {} restify(Own, 'a');", []],
  ["import passport from 'passport'; passport.use('a', b);", ['passport']],
])('of %s it finds %j', (text, names) => {
  expect(unrestored(text)).toEqual(names);
});
