import { copyOf } from '../../core/values/exact-numbers.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import type { AccessControl } from '../../core/contracts/access-control.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { LabelsField, RelatedLabel } from '../../core/schema/field.js';
import { fieldsOfLabel, LABELS_MEMBER } from '../../core/schema/object-label.js';
import type { ObjectLabel } from '../../core/schema/object-label.js';
import { labelledFields } from '../../core/schema/reachable-models.js';
import type { LabelledField } from '../../core/schema/reachable-models.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import { represent } from '../../request/represent-row.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { restrictFields } from '../permissions/restrict-fields.js';
import { isShownAsStored, LabelReader } from './read-labels.js';
import type { RepresentedLabel } from './read-labels.js';

/**
 * Adds the labels of related objects to each object, where the request has `with=labels`. Labels have the values that the
 * related model's own responses show: they are read in the statement of the rows, or by one of their own if code of the
 * application takes part in the values. Throws 400 for another value.
 */
export function addLabels({ labelsParameter }: Resource, adapter: DataAdapter): readonly Stage[] {
  if (labelsParameter === undefined) return [];
  return [
    (context) =>
      mapMaybe(context.parameters(), (parameters) => {
        const given = parameters.get(labelsParameter);
        if (given === undefined) return undefined;
        // Later stages reject parameters that they do not know.
        context.setParameters(new Map([...parameters].filter(([name]) => name !== labelsParameter)));
        if (given === '') return undefined;
        if (given !== LABELS_MEMBER)
          throw InvalidInput.of(labelsParameter, `"${given}" is not a valid choice.`);
        return selectLabels(context, adapter);
      }),
  ];
}

async function selectLabels(context: RestContext, adapter: DataAdapter): Promise<void> {
  const { resource, access, shape } = context;
  const stored: RelatedLabel[] = [];
  const represented: RepresentedLabel[] = [];
  for (const labelled of labelledFields(resource)) {
    const label = await findLabel(labelled, access);
    if (!label) continue;
    if (label.view && !isShownAsStored(label.view, label.label, adapter))
      represented.push({ ...label, view: label.view });
    else stored.push(label);
  }
  const plain = context.fork();
  const reader = new LabelReader(represented, context, adapter);
  context.resource = withLabels(resource, stored);
  context.shape = {
    view: shape?.view ?? resource,
    expands: true,
    expanded: async (rows) => reader.addTo(shape ? await shape.expanded(rows) : rows),
    represent: (row) => representLabelled(row, plain),
  };
}

/**
 * The label of a field, with the model as the caller may read it. The label is the key, and there is no view, if the caller
 * may not read the label's fields. Undefined if it may read no objects.
 */
async function findLabel(
  { field: { name, relation }, target, label }: LabelledField,
  access: AccessControl,
): Promise<(RelatedLabel & { readonly view?: Resource }) | undefined> {
  const granted = await access.tryAuthorize(target, 'GET');
  if (!granted) return undefined;
  const { rows } = granted;
  const view = restrictFields(target, granted);
  return mayReadLabel(view)
    ? { name, relation, label, rows, view }
    : { name, relation, label: labelByKey(target), rows };
}

/** Whether a view has a label, and all of its fields. */
export function mayReadLabel({ objectLabel, fieldsByName }: ResourceSchema): boolean {
  return (
    objectLabel !== undefined &&
    fieldsOfLabel(objectLabel).every(({ name }) => fieldsByName.get(name)?.readable === true)
  );
}

function labelByKey({ key }: ResourceSchema): ObjectLabel {
  const parts = key.columns.flatMap((column, index) => [
    ...(index > 0 ? [','] : []),
    { name: column.id, column },
  ]);
  return { template: '', parts };
}

function withLabels(resource: Resource, labels: readonly RelatedLabel[]): Resource {
  const field: LabelsField = {
    kind: 'labels',
    name: LABELS_MEMBER,
    label: 'Labels',
    readable: true,
    insertable: false,
    updatable: false,
    required: false,
    nullable: false,
    labels,
  };
  const fields = [...resource.fields, field];
  return Object.freeze({
    ...resource,
    fields,
    fieldsByName: new Map(fields.map((each) => [each.name, each])),
    isClientSelected: true,
  });
}

/**
 * The labels are the last value of the row, after those of the fields that the serializer knows. A field that the serializer
 * has dropped or emptied has none.
 */
function representLabelled(row: Row, plain: RestContext): Representation {
  const body = represent(row, plain);
  const labels = Object.entries(row.values.at(-1) as Readonly<Record<string, string>>);
  return copyOf(body, {
    ...body,
    [LABELS_MEMBER]: Object.fromEntries(
      labels.filter(([name]) => Object.hasOwn(body, name) && body[name] !== null && body[name] !== undefined),
    ),
  });
}
