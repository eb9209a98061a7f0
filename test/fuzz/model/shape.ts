import type { Json } from '../schema.js';
import { fieldsOf } from './fields.js';
import type { Parameters } from './parameters.js';
import type { Readable } from './filters.js';
import type { State } from './state.js';

type Tree = Map<string, Tree>;

/** Which fields a client wants, and which relations as objects (docs/fields-and-expansion.md). */
export class Shape {
  constructor(
    private readonly included: Tree | undefined,
    private readonly omitted: Tree,
    private readonly expanded: Tree,
  ) {}

  shows(name: string): boolean {
    const isOmitted = this.omitted.get(name)?.size === 0;
    return !isOmitted && (!this.included || this.included.has(name));
  }

  /** The shape of the objects in the place of a relation, where it is to be expanded. */
  expansionOf(name: string): Shape | undefined {
    const expanded = this.expanded.get(name);
    if (!expanded) return undefined;
    const included = this.included?.get(name);
    return new Shape(
      included && included.size > 0 ? included : undefined,
      this.omitted.get(name) ?? new Map<string, Tree>(),
      expanded,
    );
  }
}

function treeOf(paths: readonly string[]): Tree {
  const tree: Tree = new Map();
  for (const path of paths) {
    let at = tree;
    for (const name of path.split('.')) {
      const next: Tree = at.get(name) ?? new Map<string, Tree>();
      at.set(name, next);
      at = next;
    }
  }
  return tree;
}

function namesOf(parameters: Parameters, name: string): string[] {
  return (parameters.listed(name) ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

export interface ShapeOutcome {
  readonly shape: Shape | undefined;
  readonly errors: Readonly<Record<string, Json>>;
}

/** What the parameters of a request say of the shape of its answer; in a strict model, what is wrong with them. */
export function shapeOf(state: State, resource: Readable, parameters: Parameters): ShapeOutcome {
  const { options, readable } = resource;
  const isKnown = (name: string): boolean =>
    fieldsOf(state, resource).some(
      (field) => field.isReadable && field.name === name && (readable === 'all' || readable.has(name)),
    );
  const errors: Record<string, Json> = {};
  const wrongNames: string[] = [];
  const chosen = (parameter: string): string[] => {
    if (!options.shape) return [];
    const names = namesOf(parameters, parameter);
    const unknown = names.filter((name) => !isKnown(name.split('.')[0] ?? ''));
    wrongNames.push(...unknown);
    return names;
  };
  const [included, omitted] = [chosen('fields'), chosen('omit')];
  // What is wrong in either of them stands under "fields".
  if (wrongNames.length > 0)
    errors.fields = [...new Set(wrongNames)].map((name) => `Unknown field "${name}".`);
  const expanded = options.expandable ? namesOf(parameters, 'expand') : [];
  const allowed = (path: string): boolean =>
    (options.expandable ?? []).some((each) => each === path || each.startsWith(`${path}.`)) &&
    isKnown(path.split('.')[0] ?? '');
  const refused = expanded.filter((path) => !allowed(path));
  if (refused.length > 0) errors.expand = refused.map((path) => `"${path}" cannot be expanded.`);
  if (included.length + omitted.length + expanded.length === 0) return { shape: undefined, errors };
  return {
    shape: new Shape(
      included.length > 0 ? treeOf(included) : undefined,
      treeOf(omitted),
      treeOf(expanded.filter(allowed)),
    ),
    errors: options.strict ? errors : {},
  };
}
