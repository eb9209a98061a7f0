import type { Representation, Row } from '../../core/contracts/serializer.js';
import type { AccessControl } from '../../core/contracts/access-control.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type {
  Field,
  LabelsField,
  RelatedLabel,
  ReverseOneField,
  ToOneField,
} from '../../core/schema/field.js';
import { fieldsOfLabel, LABELS_MEMBER } from '../../core/schema/object-label.js';
import type { ObjectLabel } from '../../core/schema/object-label.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import { represent } from '../../request/represent-row.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { restrictFields } from '../permissions/restrict-fields.js';

/**
 * Adds the labels of related objects to each object, where the request has `with=labels`: they are read in the statement
 * of the rows. Throws 400 for another value.
 */
export function addLabels({ labelsParameter }: Resource): readonly Stage[] {
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
        return selectLabels(context);
      }),
  ];
}

async function selectLabels(context: RestContext): Promise<void> {
  const { resource } = context;
  const labels: RelatedLabel[] = [];
  for (const field of resource.fields) {
    const label = isReference(field) ? await findLabel(field, context.access) : undefined;
    if (label) labels.push(label);
  }
  const plain = context.fork();
  const shape = context.shape;
  context.resource = withLabels(resource, labels);
  context.shape = {
    view: shape?.view ?? resource,
    expands: true,
    expanded: (rows) => shape?.expanded(rows) ?? Promise.resolve(rows),
    represent: (row) => representLabelled(row, plain),
  };
}

/** The label of the objects of a related model that the caller may read, or their key if it may not read the label's fields. */
async function findLabel(
  { name, relation }: ToOneField | ReverseOneField,
  access: AccessControl,
): Promise<RelatedLabel | undefined> {
  const label = await readableLabel(relation.target, access);
  return label && { name, relation, ...label };
}

/** Undefined if the model has no label, or the caller may read none of its objects. */
async function readableLabel(
  target: ResourceSchema,
  access: AccessControl,
): Promise<Pick<RelatedLabel, 'label' | 'rows'> | undefined> {
  if (!target.objectLabel) return undefined;
  const granted = await access.tryAuthorize(target, 'GET');
  if (!granted) return undefined;
  const isReadable = mayReadLabel(restrictFields(resourceOf(target), granted));
  return { label: isReadable ? target.objectLabel : labelByKey(target), rows: granted.rows };
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

function isReference(field: Field): field is ToOneField | ReverseOneField {
  return field.readable && (field.kind === 'to-one' || field.kind === 'reverse-one');
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

/** The labels are the last value of the row, after those of the fields that the serializer knows. */
function representLabelled(row: Row, plain: RestContext): Representation {
  return { ...represent(row, plain), [LABELS_MEMBER]: row.values.at(-1) };
}
