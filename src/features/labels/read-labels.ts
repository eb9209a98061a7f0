import type { DataAdapter } from '../../core/data-adapter.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import type { Json } from '../../core/errors/rest-exception.js';
import type { RelatedLabel } from '../../core/schema/field.js';
import { fieldsOfLabel, formatLabel } from '../../core/schema/object-label.js';
import type { ObjectLabel } from '../../core/schema/object-label.js';
import type { Resource } from '../../core/schema/resource.js';
import { keyText } from '../../core/values/keys.js';
import type { RestContext } from '../../request/rest-context.js';
import { Expander } from '../field-selection/expand-relations.js';
import type { Expansion, ShapedObject } from '../field-selection/expand-relations.js';
import { chooseFields } from '../field-selection/select-fields.js';
import type { NameTree } from '../field-selection/parse-field-names.js';
import { ModelSerializer } from '../serialization/model-serializer.js';

/** A label made of the representation of the related object, because code of the application takes part in its values. */
export interface RepresentedLabel extends RelatedLabel {
  /** The related model as the caller may read it. */
  readonly view: Resource;
}

/**
 * Whether responses show the values of a label as they are stored: without a serializer, transformer, listener or subscriber
 * of the application. Evaluated for each request, because subscribers change at run time.
 */
export function isShownAsStored(view: Resource, label: ObjectLabel, adapter: DataAdapter): boolean {
  return hasDefaultRepresentation(view) && adapter.readsAsStored(selectLabelFields(view, label));
}

function hasDefaultRepresentation({ serializer }: Resource): boolean {
  return serializer.represent === ModelSerializer.prototype.represent;
}

const WHOLE: NameTree = { whole: true, inner: new Map() };

function selectLabelFields(view: Resource, label: ObjectLabel): Resource {
  const inner = new Map(fieldsOfLabel(label).map(({ name }) => [name, WHOLE]));
  return chooseFields(view, { only: { whole: false, inner }, omit: undefined });
}

/** At most one object for each row and relation: a page of rows limits them. */
const UNLIMITED = { maxChildren: 1, maxObjects: 2 ** 31 - 2, expandParameter: undefined };

/** The member of a represented related object that holds its label. */
const LABEL = 'label';

/** Reads the labels that are made of representations: one statement for each relation and page of rows. */
export class LabelReader {
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

  private expansionOf({ name, relation, rows, label, view }: RepresentedLabel): Expansion {
    // A serializer of the application may need every field.
    const resource = hasDefaultRepresentation(view) ? selectLabelFields(view, label) : view;
    return {
      field: name,
      many: false,
      on: relation.on,
      where: rows,
      order: [],
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
function formatRepresented({ key }: Row, label: ObjectLabel, body: Representation): string | undefined {
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
