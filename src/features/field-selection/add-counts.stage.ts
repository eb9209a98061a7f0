import { COUNTS_MEMBER } from '../../core/contracts/field-selection.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { CountsField } from '../../core/schema/field.js';
import type { Resource } from '../../core/schema/resource.js';
import { copyOf } from '../../core/values/exact-numbers.js';
import { represent } from '../../request/represent-row.js';
import { parametersFrom, parameterValues } from '../../request/parse/parse-query-string.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import type { FieldSelector } from './select-fields.stage.js';

/**
 * Adds the numbers of related objects to each object, where the request has `with=counts`: of those that the caller would get at
 * their nested URL, in the statement of the rows. Throws 400 for another value, unless labels have one.
 */
export function addCounts({ counts, labelsParameter }: Resource, selector: FieldSelector): readonly Stage[] {
  if (!counts) return [];
  const { parameter } = counts;
  return [
    (context) =>
      mapMaybe(context.parameters(), (parameters) => {
        const given = parameterValues(parameter, parameters).flatMap((value) => value.split(','));
        const others = given.filter((value) => value !== COUNTS_MEMBER && value !== '');
        const [other] = others;
        if (other !== undefined && labelsParameter === undefined)
          throw InvalidInput.of(parameter, `"${other.slice(0, 100)}" is not a valid choice.`);
        if (given.length === 0) return undefined;
        // What is left is read where labels are added.
        const rest = new Map(
          [...parameters.keys()]
            .filter((name) => name !== parameter)
            .map((name) => [name, parameterValues(name, parameters)]),
        );
        if (other !== undefined) rest.set(parameter, [[...new Set(others)].join(',')]);
        context.setParameters(parametersFrom(rest));
        return given.includes(COUNTS_MEMBER) ? selectCounts(context, counts.names, selector) : undefined;
      }),
  ];
}

async function selectCounts(
  context: RestContext,
  names: readonly string[],
  selector: FieldSelector,
): Promise<void> {
  const { resource, fieldSelection } = context;
  const lists = await selector.countedLists(context, names);
  const plain = context.fork();
  const at = resource.fields.filter(({ readable }) => readable).length;
  context.selectedFrom ??= resource;
  context.resource = withCounts(resource, lists);
  context.fieldSelection = {
    view: fieldSelection?.view ?? resource,
    expands: true,
    expanded: (rows, transaction) =>
      fieldSelection ? fieldSelection.expanded(rows, transaction) : Promise.resolve(rows),
    represent: (row) => {
      const body = represent(row, plain);
      return copyOf(body, { ...body, [COUNTS_MEMBER]: row.values[at] });
    },
    expandedFields: fieldSelection?.expandedFields,
  };
}

function withCounts(resource: Resource, lists: CountsField['lists']): Resource {
  const field: CountsField = {
    kind: 'counts',
    name: COUNTS_MEMBER,
    label: 'Counts',
    readable: true,
    insertable: false,
    updatable: false,
    required: false,
    nullable: false,
    lists,
  };
  const fields = [...resource.fields, field];
  return Object.freeze({
    ...resource,
    fields,
    fieldsByName: new Map(fields.map((each) => [each.name, each])),
    isClientSelected: true,
  });
}
