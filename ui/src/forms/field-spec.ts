import type { ChoiceDescription, FieldDescription } from '../../../src/core/contracts/field-description.js';
import type { Children } from './children.js';
import type {
  ReadableFieldDescription,
  RelationDescription,
  RouteDescription,
  ValueKind,
} from '../../../src/core/contracts/route-description.js';

/** A field of a form. */
export interface FieldSpec {
  readonly name: string;
  readonly label: string;
  readonly kind: ValueKind;
  readonly required: boolean;
  readonly readOnly: boolean;
  readonly nullable: boolean;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minValue?: number | undefined;
  readonly maxValue?: number | undefined;
  readonly choices?: readonly ChoiceDescription[] | undefined;
  /** The fields of an embedded object. */
  readonly children?: readonly FieldSpec[] | undefined;
  readonly relation?: RelationDescription | undefined;
  /** Whether the server has a value for a new object that does not have the field. */
  readonly hasDefault?: boolean;
  /** Whether what it shows is no value of a body: its input is empty. */
  readonly startsEmpty?: boolean;
  /** Of objects that bodies write: whether there is at most one. */
  readonly isOne?: boolean;
  /** Undefined where they are written as JSON. */
  readonly nested?: Children | undefined;
}

/** Kinds of fields that no body can contain. */
const READ_ONLY_KINDS: ReadonlySet<ValueKind> = new Set(['link', 'computed', 'labels', 'reverse-one']);

/** Kinds of fields that show a link or a key, and may be written as objects. */
const CHILD_KINDS: ReadonlySet<ValueKind> = new Set(['link', 'reverse-one']);

/** The fields that the caller may write with a method, and those that are shown beside them. */
export function specsOf(
  { actions, fields, relations }: RouteDescription,
  method: 'POST' | 'PUT',
): readonly FieldSpec[] {
  return Object.entries(actions[method] ?? {}).map(([name, written]) => {
    const spec = toSpec(name, { written, read: fields[name], relation: relations[name] });
    const hasDefault = method === 'POST' && !spec.required && !spec.nullable && !spec.readOnly;
    return hasDefault ? { ...spec, hasDefault } : spec;
  });
}

/** The fields of the body of an action. */
export function specsOfBody(body: Readonly<Record<string, FieldDescription>>): readonly FieldSpec[] {
  return Object.entries(body).map(([name, written]) => toSpec(name, { written, read: undefined }));
}

/** The fields that a change of many objects may set. */
export function specsOfChange({ bulk, fields, relations }: RouteDescription): readonly FieldSpec[] {
  return Object.entries(bulk?.change ?? {}).map(([name, written]) =>
    toSpec(name, { written, read: fields[name], relation: relations[name] }),
  );
}

interface Described {
  readonly written: FieldDescription;
  readonly read: ReadableFieldDescription | undefined;
  readonly relation?: RelationDescription | undefined;
}

function toSpec(name: string, { written, read, relation }: Described): FieldSpec {
  const shown = read?.kind ?? kindOf(written);
  // Objects in bodies are edited as the JSON of a list or of verbs, unless their model is known.
  const startsEmpty = CHILD_KINDS.has(shown) && written.type !== 'field';
  const kind = startsEmpty ? 'json' : listed(shown, relation);
  return {
    name,
    kind,
    relation,
    label: written.label,
    required: written.required,
    readOnly: written.read_only || READ_ONLY_KINDS.has(kind),
    // Of a field that the caller may write and not read nothing is known: the server decides.
    nullable: read?.nullable ?? !written.required,
    minLength: written.min_length,
    maxLength: written.max_length,
    minValue: written.min_value,
    maxValue: written.max_value,
    choices: written.choices ?? read?.choices,
    children:
      written.children &&
      Object.entries(written.children).map(([child, each]) =>
        toSpec(child, { written: each, read: read?.children?.[child] }),
      ),
    ...(startsEmpty ? { startsEmpty, isOne: written.type === 'nested object' } : {}),
  };
}

/** Keys of a model that the caller may not list are typed, as JSON. */
function listed(kind: ValueKind, relation: RelationDescription | undefined): ValueKind {
  return kind === 'keys' && (relation?.url ?? null) === null ? 'list' : kind;
}

/** The kinds by the types of OPTIONS; others are texts. */
const KINDS: Readonly<Record<string, ValueKind>> = {
  integer: 'integer',
  float: 'float',
  decimal: 'decimal',
  boolean: 'boolean',
  date: 'date',
  time: 'time',
  datetime: 'datetime',
  list: 'list',
  choice: 'enum',
  'multiple choice': 'set',
  field: 'json',
};

/** The kind of a field that the caller may write and not read, by the type of its description. */
function kindOf({ type, children }: FieldDescription): ValueKind {
  return children ? 'embedded' : (KINDS[type] ?? 'string');
}
