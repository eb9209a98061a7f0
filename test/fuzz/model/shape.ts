import type { Json } from '../schema.js';
import { decideAll } from './access.js';
import { fieldsOf } from './fields.js';
import type { Readable, ReadContext } from './filters.js';
import { Parameters } from './parameters.js';
import { collectionOf, throughOf } from './resources.js';

const MAX_CHILDREN = 100;

type Tree = Map<string, Tree>;

/** The requested fields and expanded relations (docs/reference/fields-and-expansion.md). */
export class Shape {
  /** The parameters of expanded lists in the request. */
  taken: readonly string[] = [];

  constructor(
    private readonly included: Tree | undefined,
    private readonly omitted: Tree,
    private readonly expanded: Tree,
    /** Of all expanded lists; empty where they take none. */
    private readonly parameters: Parameters,
    /** The path to these objects: `question.`. */
    private readonly path: string,
    /** The number of objects beyond which an expanded list is a link. */
    readonly maxChildren: number,
  ) {}

  /** The parameters of this list, which is expanded. */
  get own(): Parameters {
    return this.parameters.within(this.path);
  }

  shows(name: string): boolean {
    const isOmitted = this.omitted.get(name)?.size === 0;
    return !isOmitted && (!this.included || this.included.has(name));
  }

  expandedNames(): string[] {
    return [...this.expanded.keys()];
  }

  withdraw(name: string): void {
    this.expanded.delete(name);
  }

  /** The shape of the objects of a relation; undefined if it is not expanded. */
  expansionOf(name: string): Shape | undefined {
    const expanded = this.expanded.get(name);
    if (!expanded) return undefined;
    const included = this.included?.get(name);
    return new Shape(
      included && included.size > 0 ? included : undefined,
      this.omitted.get(name) ?? new Map<string, Tree>(),
      expanded,
      this.parameters,
      `${this.path}${name}.`,
      this.maxChildren,
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

/** Parses the shape of a response from the parameters; in a strict model, throws their errors. */
export function shapeOf(sight: ReadContext, resource: Readable, parameters: Parameters): ShapeOutcome {
  const { options } = resource;
  const errors: Record<string, Json> = {};
  const chosen = (parameter: string): string[] => {
    const names = options.shape ? namesOf(parameters, parameter) : [];
    const unknown = names.filter((name) => !hasField(sight, resource, name.split('.')[0] ?? ''));
    if (unknown.length > 0)
      errors[parameter] = [...new Set(unknown)].map((name) => `Unknown field "${name}".`);
    return names;
  };
  const [included, omitted] = [chosen('fields'), chosen('omit')];
  const expanded = options.expandable ? namesOf(parameters, 'expand') : [];
  if (included.length + omitted.length + expanded.length === 0) return { shape: undefined, errors: {} };
  const shape = new Shape(
    included.length > 0 ? treeOf(included) : undefined,
    treeOf(omitted),
    treeOf(expanded),
    options.expansionQueries ? parameters : new Parameters(''),
    '',
    typeof options.shape === 'object' ? options.shape.maxChildren : MAX_CHILDREN,
  );
  const refused = refusedPaths(sight, resource, { shape, prefix: '', expandable: options.expandable ?? [] });
  if (refused.length > 0)
    errors.expand = [...new Set(refused)].map((path) => `"${path}" cannot be expanded.`);
  return { shape, errors: options.strict ? errors : {} };
}

function hasField({ state, actor }: ReadContext, resource: Readable, name: string): boolean {
  const { readable } = resource;
  return fieldsOf(state, resource, actor).some(
    (field) => field.isReadable && field.name === name && (readable === 'all' || readable.has(name)),
  );
}

interface Level {
  readonly shape: Shape;
  /** The prefix of paths: `question.`. */
  readonly prefix: string;
  readonly expandable: readonly string[];
}

/** Removes the paths that cannot be expanded from a shape, and returns them up to their first unknown part. */
function refusedPaths(
  sight: ReadContext,
  resource: Readable,
  { shape, prefix, expandable }: Level,
): string[] {
  return shape.expandedNames().flatMap((name): string[] => {
    const path = prefix + name;
    const isOffered = expandable.some((each) => each === path || each.startsWith(`${path}.`));
    if (!isOffered || !hasField(sight, resource, name)) {
      shape.withdraw(name);
      return [path];
    }
    const inner = shape.expansionOf(name);
    const target = shape.shows(name) ? readableTarget(sight, resource, name) : undefined;
    return inner && target
      ? refusedPaths(sight, target, { shape: inner, prefix: `${path}.`, expandable })
      : [];
  });
}

/** The readable part of the related resource; undefined if the caller may not read it. */
function readableTarget(
  { state, actor }: ReadContext,
  { entity }: Readable,
  name: string,
): Readable | undefined {
  const relation = entity.relations.find((each) => each.name === name);
  if (!relation) return undefined;
  const target =
    relation.kind === 'many-to-many'
      ? throughOf(state, relation, { entity, key: '' })
      : collectionOf(state, state.entity(relation.target));
  const access = decideAll(target.options.permissions, { entity: target.entity, actor, method: 'GET' });
  return access.kind === 'grant' ? { ...target, readable: access.readable } : undefined;
}
