import type { Field } from '../../model/field.js';
import type { Expandable, ShapeRules } from '../../model/shape.js';
import type { Parameter, Schema } from './open-api-types.js';

/** What clients say to shape the answers of a model. */
export function shapeParametersOf(rules: ShapeRules | undefined): readonly Parameter[] {
  if (!rules) return [];
  const { fieldsParameter, omitParameter, expandParameter, expandable } = rules;
  return [
    ...(fieldsParameter === undefined
      ? []
      : [names(fieldsParameter, 'These fields only; dots lead into objects.')]),
    ...(omitParameter === undefined
      ? []
      : [names(omitParameter, 'All fields but these; dots lead into objects.')]),
    ...(expandParameter === undefined
      ? []
      : [
          names(
            expandParameter,
            'Objects in the places of keys and links, where the caller may see them.',
            pathsOf(expandable),
          ),
        ]),
  ];
}

function names(name: string, description: string, known?: readonly string[]): Parameter {
  return {
    name,
    in: 'query',
    required: false,
    description,
    schema: { type: 'array', items: { type: 'string', ...(known ? { enum: known } : {}) } },
    style: 'form',
    explode: true,
  };
}

function pathsOf(expandable: Expandable, within = ''): readonly string[] {
  return [...expandable].flatMap(([name, behind]) => [
    within + name,
    ...pathsOf(behind, `${within}${name}.`),
  ]);
}

/** Whether any field may be missing, because a client has not asked for it. */
export function mayLack(rules: ShapeRules | undefined): boolean {
  return rules?.fieldsParameter !== undefined;
}

/** A key or a link, or what stands in its place: objects of another model, or an array of them. */
export function orExpanded(schema: Schema, field: Field, object: Schema): Schema {
  const { title, readOnly, examples, ...plain } = schema;
  const kept = Object.fromEntries(
    Object.entries({ title, readOnly, examples }).filter(([, value]) => value !== undefined),
  );
  return { ...kept, anyOf: [plain, field.kind === 'link' ? { type: 'array', items: object } : object] };
}
