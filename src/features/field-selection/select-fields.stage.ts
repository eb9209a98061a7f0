import { copyOf } from '../../core/values/exact-numbers.js';
import { withParameters } from '../../request/request-input.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { MAX_EXPANSIONS } from '../../core/schema/limits.js';
import type { Condition } from '../../core/query/condition.js';
import type { CountedList, Field } from '../../core/schema/field.js';
import type { ListPlan } from '../../core/query/plan.js';
import type { OrderTerm } from '../../core/schema/resource-schema.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import { moreMember } from '../../core/contracts/field-selection.js';
import type { Expandable, FieldSelection } from '../../core/contracts/field-selection.js';
import { basePathOf } from '../../request/represent-row.js';
import type { ResponseShape, RestContext, Stage } from '../../request/rest-context.js';
import { expandedFields, Expander } from './expand-relations.js';
import type { Expansion, ShapedObject } from './expand-relations.js';
import { ExpansionParameters, namedWithin, NO_PARAMETERS } from './expansion-parameters.js';
import type { ListParameters } from './expansion-parameters.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { grantRelatedKeys } from '../permissions/grant-related-keys.js';
import { restrictFields } from '../permissions/restrict-fields.js';
import { foldFieldSelection } from '../../request/parse/query-parameters.js';
import { joiningPairs } from '../../request/plan/row-conditions.js';
import {
  ALL_FIELDS,
  choosesAll,
  nestedChoice,
  parseFieldNames,
  chooseFields,
  chooseMembers,
  unknownNames,
} from './select-fields.js';
import type { Choice, NameTree } from './select-fields.js';

/** Plans the rows of a list. */
export type PlanRows = (context: RestContext) => MaybePromise<ListPlan>;

/** The selection and expansions for the objects of one model. */
interface SelectionRequest {
  readonly resource: Resource;
  readonly choice: Choice;
  readonly expand: NameTree | undefined;
  readonly expandable: Expandable;
  /** True if fields that are not selected need not be read. */
  readonly narrow: boolean;
  /** The path to the object: `question.`. */
  readonly within: string;
}

/** What the selection of one request shares. */
interface SharedSelection {
  readonly context: RestContext;
  readonly unknown: Unknown;
  readonly parameters: ExpansionParameters;
}

/** Names in the parameters that are unknown in this model, for this caller. */
interface Unknown extends Readonly<Record<keyof Choice, string[]>> {
  readonly expansions: string[];
}

const CHOICE_KINDS = ['only', 'omit'] as const satisfies readonly (keyof Choice)[];

/**
 * Selects fields and expansions by the parameters `fields`, `omit` and `expand`, if the model has them. Throws 400. A
 * response to a write is selected from the whole row.
 */
export function selectFields(selector: FieldSelector, isReading: boolean): Stage {
  return (context) => {
    const rules = context.resource.fieldSelection;
    return rules && !context.fieldSelection ? selector.select(context, rules, isReading) : undefined;
  };
}

/** Applies `fields`, `omit` and `expand` to the responses of a model. */
export class FieldSelector {
  constructor(
    private readonly adapter: DataAdapter,
    private readonly planRows: PlanRows,
  ) {}

  async select(context: RestContext, rules: FieldSelection, isReading: boolean): Promise<void> {
    const parameters = foldFieldSelection(await context.parameters(), context.resource);
    context.setParameters(parameters);
    const named = (parameter: string | undefined): NameTree | undefined =>
      parameter === undefined ? undefined : parseFieldNames(parameters.get(parameter));
    const choice = { only: named(rules.fieldsParameter), omit: named(rules.omitParameter) };
    const expand = named(rules.expandParameter);
    if (choosesAll(choice) && !expand) return;
    if (expand && countOf(expand) > MAX_EXPANSIONS)
      throw InvalidInput.of(rules.expandParameter ?? 'expand', `Expand ${MAX_EXPANSIONS} relations at most.`);
    const unknown: Unknown = { only: [], omit: [], expansions: [] };
    const { resource } = context;
    const ofExpansions = new ExpansionParameters(parameters, rules.limitParameter, rules.maxChildren);
    const shape = await this.shapeObject(
      { resource, choice, expand, expandable: rules.expandable, narrow: isReading, within: '' },
      { context, unknown, parameters: ofExpansions },
    );
    // Later stages reject parameters that they do not know.
    context.setParameters(ofExpansions.rest);
    if (resource.strict) rejectUnknown(unknown, rules);
    const expander = new Expander(this.adapter, rules, {
      forWriting: !context.isReading,
      requester: context.requester,
    });
    if (isReading) {
      context.selectedFrom = resource;
      context.resource = shape.resource;
    }
    context.fieldSelection = toResponseShape(shape, expander, chooseFields(resource, choice));
  }

  /** The lists of these names that the caller may read, with the rows of each. A deleted object has none. */
  async countedLists(context: RestContext, names: readonly string[]): Promise<readonly CountedList[]> {
    const { fieldsByName, deleted } = context.selectedFrom ?? context.resource;
    if (deleted) return [];
    const lists = names.map(async (name): Promise<readonly CountedList[]> => {
      const field = fieldsByName.get(name);
      if (field?.readable !== true || (field.kind !== 'link' && field.kind !== 'keys')) return [];
      const { relation } = field;
      const target = resourceOf(
        relation.kind === 'many-to-many' ? relation.through.resource : relation.target,
      );
      const access = await context.access.tryAuthorize(target, 'GET');
      if (!access) return [];
      const resource = await grantRelatedKeys(restrictFields(target, access), context.access, context.method);
      const own = { within: access.grantCondition, path: name, parameters: NO_PARAMETERS.parameters };
      const { where } = await this.nestedList(resource, own, context);
      return [{ name, resource, on: joiningPairs(relation), where }];
    });
    return (await Promise.all(lists)).flat();
  }

  private async shapeObject(request: SelectionRequest, shared: SharedSelection): Promise<ShapedObject> {
    const { resource, choice, within } = request;
    const { context, unknown } = shared;
    // A custom serializer has members of its own, and may need fields that are not selected.
    const isPlain = resource.hasDefaultSerializer;
    if (isPlain)
      for (const each of CHOICE_KINDS)
        unknown[each].push(...unknownNames(choice[each], resource.fields, within));
    const view = chooseFields(resource, choice);
    const expansions = await this.expansionsOf(request, view, shared);
    const narrowed = isPlain && request.narrow;
    const selected = narrowed ? view : resource;
    return {
      resource: selected,
      expansions,
      represent: (row) =>
        representSelected(row, { resource: selected, choice: narrowed ? ALL_FIELDS : choice, context }),
    };
  }

  /**
   * The expanded relations of the selected fields. An expandable field that is not selected is skipped, and is not
   * unknown.
   */
  private async expansionsOf(
    { resource, choice, expand, expandable, within }: SelectionRequest,
    view: Resource,
    shared: SharedSelection,
  ): Promise<readonly Expansion[]> {
    const { unknown, parameters } = shared;
    const expansions: Expansion[] = [];
    const expanded = new Set<string>();
    for (const [name, inner] of expand?.inner ?? []) {
      const field = resource.fieldsByName.get(name);
      const nestedExpandable = field?.readable === true ? expandable.get(name) : undefined;
      if (!field || !nestedExpandable) {
        unknown.expansions.push(within + name);
        continue;
      }
      expanded.add(name);
      if (view.fieldsByName.get(name)?.readable !== true) {
        parameters.drop(within + name);
        continue;
      }
      const nested = {
        choice: nestedChoice(choice, name),
        expand: inner,
        expandable: nestedExpandable,
        narrow: true,
        within: `${within}${name}.`,
      };
      const expansion = await this.expansionOf(field, nested, shared);
      if (expansion) expansions.push(expansion);
      else parameters.drop(within + name);
    }
    for (const each of CHOICE_KINDS)
      unknown[each].push(...unexpandedPaths(choice[each], { expanded, resource, within }));
    return expansions;
  }

  /** Undefined if the caller may read none of the related model. */
  private async expansionOf(
    field: Field,
    nested: Omit<SelectionRequest, 'resource'>,
    shared: SharedSelection,
  ): Promise<Expansion | undefined> {
    if (!('relation' in field)) return undefined;
    const { context, parameters } = shared;
    const { relation } = field;
    const target = resourceOf(relation.kind === 'many-to-many' ? relation.through.resource : relation.target);
    const access = await context.access.tryAuthorize(target, 'GET');
    if (!access) return undefined;
    const resource = await grantRelatedKeys(restrictFields(target, access), context.access, context.method);
    const many = relation.kind === 'one-to-many' || relation.kind === 'many-to-many';
    const path = nested.within.slice(0, -1);
    const { limit, ...own } = many ? parameters.take(path) : NO_PARAMETERS;
    if (limit !== undefined && context.renderer?.mediaType === CSV_MEDIA_TYPE)
      throw InvalidInput.of(parameters.limitName(path), CUT_IN_CSV);
    const { where, order } = many
      ? await this.nestedList(resource, { within: access.grantCondition, path, ...own }, context)
      : { where: access.grantCondition, order: [] };
    return {
      field: field.name,
      many,
      on: many ? joiningPairs(relation) : relation.on,
      where,
      order,
      limit,
      path,
      nested: await this.shapeObject({ ...nested, resource }, shared),
    };
  }

  /** Condition and order of the nested list with these parameters. Throws 400 under their names in the request. */
  private async nestedList(
    resource: Resource,
    { within, path, parameters }: { within: Condition; path: string } & Pick<ListParameters, 'parameters'>,
    context: RestContext,
  ): Promise<{ readonly where: Condition; readonly order: readonly OrderTerm[] }> {
    const list = context.fork({
      resource,
      scope: within,
      parentCheck: undefined,
      queryAccess: undefined,
      selectedFrom: undefined,
      fieldSelection: undefined,
      expandedIn: context.resource,
      deferredChecks: [],
      input: withParameters(context.input, parameters),
    });
    list.setParameters(parameters);
    try {
      return await this.planRows(list);
    } catch (error) {
      throw namedWithin(path, error);
    }
  }
}

const CSV_MEDIA_TYPE = 'text/csv';
const CUT_IN_CSV =
  'A list cannot be cut in CSV, which has no place to say so. Leave the limit out, or read JSON.';

function representSelected(
  row: Row,
  { resource, choice, context }: { resource: Resource; choice: Choice; context: RestContext },
): Representation {
  const { base, actor } = context;
  const body =
    row.answered ??
    resource.serializer.represent(row, { resource, actor, basePath: basePathOf({ base, resource }) });
  return withExpanded(chooseMembers(body, choice, resource.fields), row);
}

/** Replaces keys and links by expanded objects; a member that a serializer has removed stays removed. */
function withExpanded(body: Representation, { expanded }: Row): Representation {
  if (!expanded || expanded.size === 0) return body;
  const members: Record<string, unknown> = {};
  for (const name of Object.keys(body)) {
    const isExpanded = expanded.has(name);
    members[name] = isExpanded ? expanded.get(name) : body[name];
    const more = isExpanded ? moreMember(name) : '';
    if (isExpanded && expanded.get(more) === true) members[more] = true;
  }
  return copyOf(body, members);
}

function toResponseShape(shape: ShapedObject, expander: Expander, view: Resource): ResponseShape {
  const expands = shape.expansions.length > 0;
  return {
    view,
    expands,
    expanded: (rows, transaction) =>
      expands ? expander.expand(rows, shape, transaction) : Promise.resolve(rows),
    represent: (row) => shape.represent(row),
    expandedFields: () => expandedFields(shape),
  };
}

/** Names below a field that is not expanded or not a relation. */
function unexpandedPaths(
  names: NameTree | undefined,
  { expanded, resource, within }: { expanded: ReadonlySet<string>; resource: Resource; within: string },
): readonly string[] {
  return [...(names?.inner ?? [])].flatMap(([name, { inner }]) => {
    const field = resource.fieldsByName.get(name);
    return field?.readable === true && 'relation' in field && !expanded.has(name)
      ? [...inner.keys()].map((each) => `${within}${name}.${each}`)
      : [];
  });
}

/** Counts iteratively and stops above the limit, so that the cost does not depend on the input. */
function countOf(names: NameTree): number {
  const waiting = [names];
  let count = -1;
  for (let at = waiting.pop(); at && count <= MAX_EXPANSIONS; at = waiting.pop()) {
    count++;
    waiting.push(...at.inner.values());
  }
  return count;
}

/** The unknown names under their parameters. A hidden field is reported like one that does not exist. */
function rejectUnknown(
  { only, omit, expansions }: Unknown,
  { fieldsParameter = 'fields', omitParameter = 'omit', expandParameter = 'expand' }: FieldSelection,
): void {
  const errors = emptyFieldErrors();
  const addErrors = (parameter: string, messages: readonly string[]): void => {
    if (messages.length > 0) errors[parameter] = [...new Set(messages)];
  };
  addErrors(fieldsParameter, only.map(noSuchField));
  addErrors(omitParameter, omit.map(noSuchField));
  addErrors(
    expandParameter,
    expansions.map((name) => `"${name}" cannot be expanded.`),
  );
  if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
}

function noSuchField(name: string): string {
  return `Unknown field "${name}".`;
}
