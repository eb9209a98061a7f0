import type { CompiledPermission, Denial, Grant, Permission } from '../../core/contracts/permission.js';
import { resolveRowFilter, UnknownPath } from '../../core/query/resolve-row-filter.js';
import type { Resource } from '../../core/schema/resource.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { problem } from './problems.js';
import type { Problems } from './problems.js';

/**
 * Verifies the paths of row filters of permissions whose `decide` takes nothing and returns constants: what it grants
 * is the same for every caller, always. Other permissions are not called at start, because that could have effects, and their answer
 * depends on the caller: a wrong path in them is an error of the request.
 */
export function* verifyFixedGrants(_input: CompilerInput, { all }: CompiledModel): Problems {
  for (const resource of all)
    for (const permission of requiredPermissions(resource.permission))
      yield* problemsOf(permission, resource);
}

/** The permissions that every request to a model evaluates, and whose rows are part of every grant. */
function requiredPermissions(permission: CompiledPermission): readonly Permission[] {
  switch (permission.kind) {
    case 'one':
      return permission.source === undefined ? [] : [permission.permission];
    case 'all-of':
      return permission.permissions.flatMap(requiredPermissions);
    case 'anyone':
    case 'any-of':
    case 'not':
      return [];
    default:
      return permission satisfies never;
  }
}

/** One `return` of a method without parameters, with its expression. */
const RETURN = /^decide\(\s*\)\s*\{\s*return\b([^;]*);?\s*\}$/;
const TEXT = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;
/** A function of an import that a compiler to CommonJS has named: `(0, restify.where)`. */
const OF_IMPORT = /\(0, ?([A-Za-z_$][\w$.]*)\)/g;
const NAME = /[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*(?=\s*(.?))/g;
const FUNCTIONS = /(?:^|\.)(?:allow|deny|where|and|or|not)$/;
const CONSTANT = /^(?:true|false|null)$/;

/** Whether the source of `decide` consists of calls of this package's functions with constants: a name may have another value later. */
function isFixed(source: string): boolean {
  const [, expression] = RETURN.exec(source) ?? [];
  if (expression === undefined || expression.includes('`')) return false;
  const names = expression.replace(TEXT, '""').replace(OF_IMPORT, '$1').matchAll(NAME);
  return [...names].every(
    ([name, next]) =>
      next === ':' || (next === '(' && FUNCTIONS.test(name)) || (next !== '(' && CONSTANT.test(name)),
  );
}

function* problemsOf(permission: Permission, resource: Resource): Problems {
  // Of a provider without a plain instance, it is undefined.
  const type = permission.constructor as
    { readonly name: string; readonly prototype: Partial<Permission> } | undefined;
  const decide: unknown = type?.prototype.decide;
  if (!type || typeof decide !== 'function') return;
  if (!isFixed(Function.prototype.toString.call(decide))) return;
  try {
    const decision = (decide as () => Grant | Denial)();
    if (decision.kind === 'grant' && typeof decision.rows === 'object')
      resolveRowFilter(decision.rows, resource);
  } catch (error) {
    // Any other error belongs to the request, too.
    if (error instanceof UnknownPath) yield problem(`${type.name}.decide`, error.what, error.repair);
  }
}
