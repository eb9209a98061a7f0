import type { Field } from '../core/schema/field.js';
import type { Resource } from '../core/schema/resource.js';
import type { Expandable, FieldSelection } from '../core/contracts/field-selection.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import type { Parameter, Schema } from './open-api-types.js';

/** The query parameters for field selection and expansion. */
export function shapeParametersOf(resource: Resource): readonly Parameter[] {
  const { shape: rules } = resource;
  if (!rules) return [];
  const known = fieldNamesSchema(resource);
  const { fieldsParameter, omitParameter, expandParameter, expandable } = rules;
  return [
    ...(fieldsParameter === undefined
      ? []
      : [
          namesParameter(
            fieldsParameter,
            'Only these fields; a dotted path selects a field of a nested object.',
            known,
          ),
        ]),
    ...(omitParameter === undefined
      ? []
      : [
          namesParameter(
            omitParameter,
            'All fields except these; a dotted path selects a field of a nested object.',
            known,
          ),
        ]),
    ...(expandParameter === undefined
      ? []
      : [
          namesParameter(
            expandParameter,
            'Related objects in place of their keys and links, if the caller may see them.',
            {
              enum: expandablePaths(expandable),
            },
          ),
        ]),
  ];
}

/** A strict model rejects unknown names, unless a custom serializer has names of its own. */
function fieldNamesSchema({ strict, fields, serializer }: Resource): Schema {
  if (!strict || serializer.represent !== ModelSerializer.prototype.represent) return {};
  return { pattern: `^${patternOf(fields)}$` };
}

/** Names after a relation are not restricted. */
function patternOf(fields: readonly Field[]): string {
  const patterns = fields
    .filter(({ readable }) => readable)
    .map((field) => {
      const name = field.name.replaceAll('$', '\\$');
      if ('relation' in field) return `${name}(\\..+)?`;
      return field.kind === 'embedded' ? `${name}(\\.${patternOf(field.fields)})?` : name;
    });
  return `(${patterns.join('|')})`;
}

function namesParameter(name: string, description: string, known: Schema): Parameter {
  return {
    name,
    in: 'query',
    required: false,
    description,
    schema: { type: 'array', items: { type: 'string', ...known } },
    style: 'form',
    explode: true,
  };
}

function expandablePaths(expandable: Expandable, within = ''): readonly string[] {
  return [...expandable].flatMap(([name, nested]) => [
    within + name,
    ...expandablePaths(nested, `${within}${name}.`),
  ]);
}

/** Whether field selection may omit any field. */
export function mayOmitFields(rules: FieldSelection | undefined): boolean {
  return rules?.fieldsParameter !== undefined;
}

/** A key or link, or the expanded object or array of objects. */
export function orExpanded(schema: Schema, field: Field, object: Schema): Schema {
  const { title, readOnly, examples, ...plain } = schema;
  const outer = Object.fromEntries(
    Object.entries({ title, readOnly, examples }).filter(([, value]) => value !== undefined),
  );
  return { ...outer, anyOf: [plain, field.kind === 'link' ? { type: 'array', items: object } : object] };
}
