import type { AccessControl } from '../../core/contracts/access-control.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { LabelsField, RelatedLabel } from '../../core/schema/field.js';
import { fieldsOfLabel, LABELS_MEMBER, formatLabel } from '../../core/schema/object-label.js';
import type { ObjectLabel } from '../../core/schema/object-label.js';
import { labelledFields } from '../../core/schema/reachable-models.js';
import type { LabelledField } from '../../core/schema/reachable-models.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import { copyOf } from '../../core/values/exact-numbers.js';
import { keyText } from '../../core/values/keys.js';
import { selectParameters } from '../../request/parse/parse-query-string.js';
import { represent } from '../../request/represent-row.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { Expander } from '../field-selection/expand-relations.js';
import type { Expansion, ShapedObject } from '../field-selection/expand-relations.js';
import { chooseFields } from '../field-selection/select-fields.js';
import type { NameTree } from '../field-selection/select-fields.js';
import { restrictFields } from '../permissions/restrict-fields.js';
import { ModelSerializer } from '../serialization/model-serializer.js';

/** A label made of the representation of the related object, because code of the application takes part in its values. */
interface RepresentedLabel extends RelatedLabel {
  /** The related model as the caller may read it. */
  readonly view: Resource;
}

/**
 * Whether responses show the values of a label as they are stored: without a serializer, transformer, listener or subscriber
 * of the application. Evaluated for each request, because subscribers change at run time.
 */
function isShownAsStored(view: Resource, label: ObjectLabel, adapter: DataAdapter): boolean {
  return hasDefaultRepresentation(view) && adapter.bypassesEntityHooks(selectLabelFields(view, label));
}

export function hasDefaultRepresentation({ serializer }: Resource): boolean {
  return serializer.represent === ModelSerializer.prototype.represent;
}

const WHOLE: NameTree = { whole: true, inner: new Map() };

export function selectLabelFields(view: Resource, label: ObjectLabel): Resource {
  const inner = new Map(fieldsOfLabel(label).map(({ name }) => [name, WHOLE]));
  return chooseFields(view, { only: { whole: false, inner }, omit: undefined });
}

/** At most one object for each row and relation: a page of rows limits them. */
const UNLIMITED = { maxChildren: 1, maxObjects: 2 ** 31 - 2, expandParameter: undefined };

/** The member of a represented related object that holds its label. */
const LABEL = 'label';

/** Reads the labels that are made of representations: one statement for each relation and page of rows. */
class LabelReader {
  private readonly shape: ShapedObject;
  private readonly names: readonly string[];

  constructor(
    labels: readonly RepresentedLabel[],
    private readonly context: RestContext,
    private readonly adapter: DataAdapter,
  ) {
    const { resource } = context;
    this.shape = {
      resource,
      expansions: labels.map((label) => this.expansionOf(label)),
      represent: () => ({}),
    };
    this.names = resource.fields.map(({ name }) => name);
  }

  /** Adds the labels to the last value of each row. */
  async addTo(rows: readonly Row[]): Promise<readonly Row[]> {
    if (this.shape.expansions.length === 0) return rows;
    const { isReading, requester } = this.context;
    const expander = new Expander(this.adapter, UNLIMITED, { forWriting: !isReading, requester });
    const expanded = await expander.expand(rows, this.shape);
    return rows.map((row, index) => ({
      ...row,
      values: [...row.values.slice(0, -1), this.mergeLabels(row, expanded[index]?.expanded ?? new Map())],
    }));
  }

  /** In the order of the fields. */
  private mergeLabels(row: Row, read: ReadonlyMap<string, unknown>): Readonly<Record<string, string>> {
    const stored = row.values.at(-1) as Readonly<Record<string, string>>;
    const found = new Map(Object.entries(stored));
    for (const [name, object] of read) {
      const text = (object as Representation)[LABEL];
      if (typeof text === 'string') found.set(name, text);
    }
    return Object.fromEntries(
      this.names.flatMap((name) => {
        const text = found.get(name);
        return text === undefined ? [] : [[name, text] as const];
      }),
    );
  }

  private expansionOf({ name, relation, grantCondition, label, view }: RepresentedLabel): Expansion {
    // A serializer of the application may need every field.
    const resource = hasDefaultRepresentation(view) ? selectLabelFields(view, label) : view;
    return {
      field: name,
      many: false,
      on: relation.on,
      where: grantCondition,
      order: [],
      path: name,
      nested: {
        resource,
        expansions: [],
        represent: (row) => ({ [LABEL]: formatRepresented(row, label, this.represent(row, resource)) }),
      },
    };
  }

  private represent(row: Row, resource: Resource): Representation {
    const { base, actor } = this.context;
    const basePath = `${base}/${resource.app}/${resource.model}`;
    return resource.serializer.represent(row, { resource, actor, basePath });
  }
}

/** The key, if the representation lacks one of the label's fields. */
export function formatRepresented(
  { key }: Row,
  label: ObjectLabel,
  body: Representation,
): string | undefined {
  const names = fieldsOfLabel(label).map(({ name }) => name);
  if (!names.every((name) => Object.hasOwn(body, name))) return keyText(key);
  return formatLabel(
    label,
    names.map((name) => toLabelValue(body[name])),
  );
}

/** Lists and objects are no texts for people. */
function toLabelValue(value: unknown): Json {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

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
        context.setParameters(selectParameters(parameters, (name) => name !== labelsParameter));
        if (given === '') return undefined;
        if (given !== LABELS_MEMBER)
          throw InvalidInput.of(labelsParameter, `"${given}" is not a valid choice.`);
        return selectLabels(context, adapter);
      }),
  ];
}

async function selectLabels(context: RestContext, adapter: DataAdapter): Promise<void> {
  const { resource, access, fieldSelection } = context;
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
  context.fieldSelection = {
    view: fieldSelection?.view ?? resource,
    expands: true,
    expanded: async (rows) => reader.addTo(fieldSelection ? await fieldSelection.expanded(rows) : rows),
    represent: (row) => representLabelled(row, plain),
    expandedFields: fieldSelection?.expandedFields,
  };
}

/**
 * The label of a field, with the model as the caller may read it. The label is the key, and there is no view, if the caller
 * may not read the label's fields. Undefined if it may read no objects.
 */
export async function findLabel(
  { field: { name, relation }, target, label }: LabelledField,
  access: AccessControl,
): Promise<(RelatedLabel & { readonly view?: Resource }) | undefined> {
  const granted = await access.tryAuthorize(target, 'GET');
  if (!granted) return undefined;
  const { grantCondition } = granted;
  const view = restrictFields(target, granted);
  return mayReadLabel(view)
    ? { name, relation, label, grantCondition, view }
    : { name, relation, label: labelByKey(target), grantCondition };
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
