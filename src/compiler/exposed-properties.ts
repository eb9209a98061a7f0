import type { RestifyOptions } from '../decorators/model-options.js';
import type {
  ColumnDescription,
  EntityDescription,
  RelationDescription,
} from '../core/schema/entity-metadata.js';
import { topName } from './property-names.js';

type ExposableProperty = ColumnDescription | RelationDescription;

/** The exposure of a column or relation: by the options of its model, else by decorators of class-transformer. */
export interface Exposed {
  /** Whether it has a field. */
  readonly hasField: boolean;
  readonly readable: boolean;
  /** Whether bodies may contain it, unless the column itself is read-only. */
  readonly writable: boolean;
  /** True if a decorator or `select: false` hides it, and bodies may contain it because a row cannot be created without it. */
  readonly hiddenButRequired: boolean;
}

type Named = Pick<RestifyOptions, 'fields' | 'exclude' | 'readOnly' | 'writeOnly' | 'optional'>;

/** The entity of a member, the options of its model, and its relations to served models. */
export interface ExposedIn {
  readonly entity: EntityDescription;
  readonly options: Named;
  readonly isServed: (relation: RelationDescription) => boolean;
}

const NOT_EXPOSED: Exposed = { hasField: false, readable: false, writable: false, hiddenButRequired: false };

export function exposedMember(member: ExposableProperty, within: ExposedIn): Exposed {
  const { entity, options } = within;
  const name = topName(member);
  if (!isNamed(member, options)) return NOT_EXPOSED;
  const written = !(options.readOnly ?? []).includes(name);
  const read = !(options.writeOnly ?? []).includes(name);
  const { readable, writable } = exposureOf(member, within);
  if (readable && ('kind' in member || member.selected))
    return { hasField: true, readable: read, writable: written && writable, hiddenButRequired: false };
  if (writable && !read)
    return { hasField: true, readable: false, writable: written, hiddenButRequired: false };
  const hiddenButRequired =
    written && entity.writable && isRequired(member, within) && !isWrittenByAlias(member, within);
  return hiddenButRequired
    ? { hasField: true, readable: false, writable: true, hiddenButRequired }
    : NOT_EXPOSED;
}

function isNamed(member: ExposableProperty, { fields, exclude = [] }: Named): boolean {
  const name = topName(member);
  return (
    (fields === undefined || fields.includes(name)) &&
    !exclude.includes(name) &&
    !('kind' in member && exclude.includes(member.path))
  );
}

/** Exposure by the decorators of the property and of the embedded objects that contain it, which options cannot name. */
function exposureOf(
  { path }: ExposableProperty,
  { entity: { exposures }, options: { fields = [], writeOnly = [] } }: ExposedIn,
): { readonly readable: boolean; readonly writable: boolean } {
  const [top = path, ...names] = path.split('.');
  const outer = exposures.get(top);
  const inner = names.flatMap(
    (_, depth) => exposures.get([top, ...names.slice(0, depth + 1)].join('.')) ?? [],
  );
  return {
    readable: (fields.includes(top) || outer?.readable !== false) && inner.every(({ readable }) => readable),
    writable:
      ([...fields, ...writeOnly].includes(top) || outer?.writable !== false) &&
      inner.every(({ writable }) => writable),
  };
}

/** Whether a row cannot be created without a value from the client. */
function isRequired(member: ExposableProperty, { options: { optional = [] } }: ExposedIn): boolean {
  if (optional.includes(topName(member))) return false;
  if ('kind' in member) return member.kind === 'to-one' && !member.nullable && !member.hasDefault;
  const { acceptsNull, hasDefault, generated, insertable, unsupported } = member;
  return !acceptsNull && !hasDefault && !generated && insertable && unsupported === undefined;
}

/** If a foreign key is a column as well as a relation, bodies write the one that is not hidden. */
function isWrittenByAlias(member: ExposableProperty, within: ExposedIn): boolean {
  const { columns, relations } = within.entity;
  const isOpen = (other: ExposableProperty): boolean => {
    const { readable, writable } = exposureOf(other, within);
    return isNamed(other, within.options) && readable && writable;
  };
  if (!('kind' in member))
    return relations.some(
      (relation) =>
        relation.kind === 'to-one' &&
        relation.on.some(({ localColumn }) => localColumn === member.id) &&
        within.isServed(relation) &&
        isOpen(relation),
    );
  return (
    member.kind === 'to-one' &&
    member.on.every(({ localColumn }) =>
      columns.some((column) => column.id === localColumn && !column.internal && isOpen(column)),
    )
  );
}
