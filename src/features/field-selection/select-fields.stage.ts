import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import { MAX_EXPANSIONS } from '../../core/schema/limits.js';
import type { Condition } from '../../core/query/condition.js';
import type { Field } from '../../core/schema/field.js';
import type { ListPlan } from '../../core/query/plan.js';
import type { OrderTerm, Resource } from '../../core/schema/resource.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import type { Expandable, FieldSelection } from '../../core/contracts/field-selection.js';
import type { ResponseShape, ListAnswer, Located } from '../../request/rest-context.js';
import { Expander } from './expand-relations.js';
import type { Expansion, ShapedObject } from './expand-relations.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { restrictFields } from '../permissions/restrict-fields.js';
import { foldFieldSelection } from '../../request/parse/list-parameters.js';
import { joiningPairs } from '../../request/plan/plan-read.js';
import { bufferStream } from '../../request/response/buffer-stream.js';
import { ModelSerializer } from '../serialization/model-serializer.js';
import { parseFieldNames, choiceBehind, choosesAll, EVERYTHING } from './parse-field-names.js';
import type { Choice, Names } from './parse-field-names.js';
import { chooseFields, chooseMembers, unknownNames } from './select-fields.js';

/** The rows and the order of a list, as its backends and its model say where no parameter is given. */
export type PlanList = (located: Located) => Promise<ListPlan>;

/** Objects of one kind as a client asks for them. */
interface Wanted {
  readonly resource: Resource;
  readonly choice: Choice;
  readonly expand: Names | undefined;
  readonly expandable: Expandable;
  /** Whether the fields that are not wanted need not be read. */
  readonly narrow: boolean;
  /** The path to it: `question.`. */
  readonly within: string;
}

/** What a client names and this model does not have, for this caller. */
interface Unknown extends Readonly<Record<keyof Choice, string[]>> {
  readonly expansions: string[];
}

const CHOICES = ['only', 'omit'] as const satisfies readonly (keyof Choice)[];

const NO_PARAMETERS: ReadonlyMap<string, string> = new Map();

/** What `fields`, `omit` and `expand` make of the answers of a model. */
export class FieldSelector {
  constructor(
    private readonly adapter: DataAdapter,
    private readonly planList: PlanList,
  ) {}

  /** What is asked for, in the shape that its parameters say. Throws 400. An answer to a write is cut from the whole row. */
  async of(located: Located, rules: FieldSelection, reading: boolean): Promise<Located> {
    const parameters = foldFieldSelection(await located.parameters(), located.resource);
    const asked = { ...located, parameters: () => parameters };
    const named = (parameter: string | undefined): Names | undefined =>
      parameter === undefined ? undefined : parseFieldNames(parameters.get(parameter));
    const choice = { only: named(rules.fieldsParameter), omit: named(rules.omitParameter) };
    const expand = named(rules.expandParameter);
    if (choosesAll(choice) && !expand) return asked;
    refuseMany(expand, rules);
    const unknown: Unknown = { only: [], omit: [], expansions: [] };
    const { resource } = located;
    const shown = await this.shapedObject(
      { resource, choice, expand, expandable: rules.expandable, narrow: reading, within: '' },
      asked,
      unknown,
    );
    if (resource.strict) refuseUnknown(unknown, rules);
    const expander = new Expander(this.adapter, rules, {
      forWriting: !located.admission.reading,
      requester: located.requester,
    });
    return {
      ...asked,
      resource: reading ? shown.resource : resource,
      shape: shapeOf(shown, expander, chooseFields(resource, choice)),
    };
  }

  private async shapedObject(wanted: Wanted, located: Located, unknown: Unknown): Promise<ShapedObject> {
    const { resource, choice, within } = wanted;
    // Another serializer has members of its own, and may need the fields that are not wanted.
    const isPlain = resource.serializer.constructor === ModelSerializer;
    if (isPlain)
      for (const each of CHOICES) unknown[each].push(...unknownNames(choice[each], resource.fields, within));
    const view = chooseFields(resource, choice);
    const expansions = await this.expansionsOf(wanted, view, { located, unknown });
    const narrowed = isPlain && wanted.narrow;
    const shown = narrowed ? view : resource;
    return {
      resource: shown,
      expansions,
      represent: (row) =>
        represented(row, { resource: shown, choice: narrowed ? EVERYTHING : choice, located }),
    };
  }

  /** Of what is shown. What is expandable and not shown is passed over, and is not unknown. */
  private async expansionsOf(
    { resource, choice, expand, expandable, within }: Wanted,
    view: Resource,
    { located, unknown }: { located: Located; unknown: Unknown },
  ): Promise<readonly Expansion[]> {
    const expansions: Expansion[] = [];
    const offered = new Set<string>();
    for (const [name, inner] of expand?.inner ?? []) {
      const field = resource.fieldsByName.get(name);
      const beyond = field?.readable === true ? expandable.get(name) : undefined;
      if (!field || !beyond) {
        unknown.expansions.push(within + name);
        continue;
      }
      offered.add(name);
      if (view.fieldsByName.get(name)?.readable !== true) continue;
      const behind = {
        choice: choiceBehind(choice, name),
        expand: inner,
        expandable: beyond,
        narrow: true,
        within: `${within}${name}.`,
      };
      const expansion = await this.expansionOf(field, { located, behind, unknown });
      if (expansion) expansions.push(expansion);
    }
    for (const each of CHOICES)
      unknown[each].push(...namedInVain(choice[each], { offered, resource, within }));
    return expansions;
  }

  /** Undefined where the caller may see none of what it leads to. */
  private async expansionOf(
    field: Field,
    { located, behind, unknown }: { located: Located; behind: Omit<Wanted, 'resource'>; unknown: Unknown },
  ): Promise<Expansion | undefined> {
    if (!('relation' in field)) return undefined;
    const { relation } = field;
    const target = relation.kind === 'many-to-many' ? relation.through.resource : relation.target;
    const access = await located.admission.accesses.tryAuthorize(target, 'GET');
    if (!access) return undefined;
    const resource = restrictFields(target, access);
    const many = relation.kind === 'one-to-many' || relation.kind === 'many-to-many';
    const on = many ? joiningPairs(relation) : relation.on;
    const { where, order } = many
      ? await this.nestedList(resource, access.rows, located)
      : { where: access.rows, order: [] };
    return {
      field: field.name,
      many,
      on,
      where,
      order,
      behind: await this.shapedObject({ ...behind, resource }, located, unknown),
    };
  }

  /** As the nested list has them where nothing is asked of it. */
  private nestedList(
    resource: Resource,
    within: Condition,
    located: Located,
  ): Promise<{ readonly where: Condition; readonly order: readonly OrderTerm[] }> {
    return this.planList({
      ...located,
      resource,
      within,
      pending: undefined,
      shape: undefined,
      parameters: () => NO_PARAMETERS,
    });
  }
}

function represented(
  row: Row,
  { resource, choice, located }: { resource: Resource; choice: Choice; located: Located },
): Representation {
  const { base, admission } = located;
  const body =
    row.answered ??
    resource.serializer.represent(row, {
      resource,
      actor: admission.actor,
      basePath: `${base}/${resource.app}/${resource.model}`,
    });
  return withExpanded(chooseMembers(body, choice, resource.fields), row);
}

/** In the places of keys and links: where a serializer has taken one out, nothing comes in. */
function withExpanded(body: Representation, { expanded }: Row): Representation {
  if (!expanded || expanded.size === 0) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, expanded.has(name) ? expanded.get(name) : value]),
  );
}

function shapeOf(shown: ShapedObject, expander: Expander, view: Resource): ResponseShape {
  const expands = shown.expansions.length > 0;
  return {
    view,
    expands,
    expanded: (rows) => (expands ? expander.expanded(rows, shown) : Promise.resolve(rows)),
    represent: (row) => shown.represent(row),
  };
}

/** A list with what is expanded in it, page by page. */
export function expandedList(read: AsyncIterable<readonly Row[]>, shape: ResponseShape): ListAnswer {
  return {
    pages: { [Symbol.asyncIterator]: () => expandedPages(read, shape) },
    represent: (row) => shape.represent(row),
  };
}

/** The same as texts, held back while the list is of ordinary length. */
export function expandedTexts(
  read: AsyncIterable<readonly Row[]>,
  shape: ResponseShape,
): AsyncIterable<string> {
  const { pages, represent } = expandedList(read, shape);
  return bufferStream(pages, represent);
}

async function* expandedPages(
  pages: AsyncIterable<readonly Row[]>,
  shape: ResponseShape,
): AsyncGenerator<readonly Row[]> {
  for await (const rows of pages) yield shape.expanded(rows);
}

/** Names behind a relation that is not expanded, or is none. */
function namedInVain(
  names: Names | undefined,
  { offered, resource, within }: { offered: ReadonlySet<string>; resource: Resource; within: string },
): readonly string[] {
  return [...(names?.inner ?? [])].flatMap(([name, { inner }]) => {
    const field = resource.fieldsByName.get(name);
    return field?.readable === true && 'relation' in field && !offered.has(name)
      ? [...inner.keys()].map((each) => `${within}${name}.${each}`)
      : [];
  });
}

function refuseMany(expand: Names | undefined, { expandParameter = 'expand' }: FieldSelection): void {
  if (expand && countOf(expand) > MAX_EXPANSIONS)
    throw InvalidInput.of(expandParameter, `Expand ${MAX_EXPANSIONS} relations at most.`);
}

/** No deeper than it matters: nothing of the client's makes it long. */
function countOf(names: Names): number {
  const waiting = [names];
  let count = -1;
  for (let at = waiting.pop(); at && count <= MAX_EXPANSIONS; at = waiting.pop()) {
    count++;
    waiting.push(...at.inner.values());
  }
  return count;
}

/** Each under the parameter that names it. A hidden field is told like one that there is not. */
function refuseUnknown(
  { only, omit, expansions }: Unknown,
  { fieldsParameter = 'fields', omitParameter = 'omit', expandParameter = 'expand' }: FieldSelection,
): void {
  const errors = emptyFieldErrors();
  const tell = (parameter: string, messages: readonly string[]): void => {
    if (messages.length > 0) errors[parameter] = [...new Set(messages)];
  };
  tell(fieldsParameter, only.map(noSuchField));
  tell(omitParameter, omit.map(noSuchField));
  tell(
    expandParameter,
    expansions.map((name) => `"${name}" cannot be expanded.`),
  );
  if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
}

function noSuchField(name: string): string {
  return `Unknown field "${name}".`;
}
