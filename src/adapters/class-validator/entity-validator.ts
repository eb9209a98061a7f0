import { isMissingPackage } from '../../core/errors/missing-package.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { FieldErrors } from '../../core/errors/rest-exception.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { DataType } from '../../core/schema/data-type.js';
import { isAcceptedInBodies, isNested, isWritable } from '../../core/schema/field.js';
import type { EmbeddedField, Field, ColumnField } from '../../core/schema/field.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { BodyReader, ClassRulesReader, ClassValidators } from '../../core/schema/value-rules.js';
import { storedBoolean } from '../../core/values/stored-booleans.js';
import { readBody } from './read-body.js';
import { readRules } from './read-rules.js';
import type { ValidationMetadataLike } from './read-rules.js';

/** The used part of class-validator's error. The package is an optional peer dependency. */
interface ValidationErrorLike {
  readonly property: string;
  readonly constraints?: Readonly<Record<string, string>>;
  readonly children?: readonly ValidationErrorLike[];
}

interface ClassValidator {
  validate(
    object: object,
    options: { forbidUnknownValues: boolean; skipUndefinedProperties: boolean },
  ): Promise<readonly ValidationErrorLike[]>;
  getMetadataStorage(): {
    getTargetValidationMetadatas(
      target: unknown,
      schema: string,
      always: boolean,
      strictGroups: boolean,
    ): readonly ValidationMetadataLike[];
  };
}

/** Validates an entity with class-validator before it is written. */
export interface EntityValidator {
  validate(entity: object, resource: ResourceSchema, written: Written): MaybePromise<FieldErrors>;
  /** Whose validators a class has. */
  classValidatorsOf(target: unknown): ClassValidators;
  /** The rules of a class as far as a JSON Schema can express them. */
  readonly rulesOf: ClassRulesReader;
  /** The properties of a class that is the body of an action. */
  readonly readBody: BodyReader;
}

/** The global variable in which all copies of class-validator store the metadata of decorators. */
const METADATA_STORAGE = 'classValidatorMetadataStorage';

/**
 * Loads the validator; undefined if class-validator is not installed, or if nothing is decorated with it: loading it takes as
 * long as a hundred entities.
 */
export async function loadEntityValidator(): Promise<EntityValidator | undefined> {
  if (!(METADATA_STORAGE in globalThis)) return undefined;
  const library = await importClassValidator();
  if (!library) return undefined;
  const datesAsTexts = datesAsTextsOf(library);
  const metadataOf = (target: unknown): readonly ValidationMetadataLike[] =>
    library.getMetadataStorage().getTargetValidationMetadatas(target, '', true, false);
  const isValidated = validatedClassesOf(library);
  const validate = async (
    entity: object,
    resource: ResourceSchema,
    written: Written,
  ): Promise<FieldErrors> => {
    const view = validatedView(entity, resource.fields, { written, datesAsTexts });
    // The database sets missing values, which therefore are not validated.
    const found = await library.validate(view, {
      forbidUnknownValues: false,
      skipUndefinedProperties: true,
    });
    return fieldErrors(found, resource.fields, { entity, written });
  };
  return {
    validate: (entity, resource, written) =>
      isValidated(entity.constructor) ? validate(entity, resource, written) : NO_FIELD_ERRORS,
    rulesOf: (target) => readRules(metadataOf(target)),
    readBody: (type) => readBody(type, metadataOf),
    classValidatorsOf: (target) => {
      const all = library.getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
      if (all.length === 0) return 'none';
      return all.every((each) => isBuiltIn(each, library)) ? 'built-in' : 'own';
    },
  };
}

/**
 * The package exports the name of each of its validators. Those that validate nested objects call the validators of
 * others, and `validateIf` is a function of the application.
 */
function isBuiltIn({ type, name, validateIf }: ValidationMetadataLike, library: ClassValidator): boolean {
  if (validateIf !== undefined) return false;
  return type === 'whitelistValidation' || (name !== undefined && Object.values(library).includes(name));
}

/** Whether a class has validators. Cached, because decorators are not added after the start. */
function validatedClassesOf(library: ClassValidator): (type: unknown) => boolean {
  const known = new WeakMap<object, boolean>();
  return (type) => {
    if (typeof type !== 'function') return true;
    const found =
      known.get(type) ??
      library.getMetadataStorage().getTargetValidationMetadatas(type, '', true, false).length > 0;
    known.set(type, found);
    return found;
  };
}

/** Cached by class, because decorators are not added after the start. */
function datesAsTextsOf(library: ClassValidator): DatesAsTexts {
  const known = new WeakMap<object, ReadonlySet<string>>();
  return (type) => {
    if (typeof type !== 'function') return NO_NAMES;
    const properties =
      known.get(type) ??
      new Set(
        library
          .getMetadataStorage()
          .getTargetValidationMetadatas(type, '', true, false)
          .filter(({ name }) => name !== undefined && DATE_TEXT_VALIDATORS.has(name))
          .map(({ propertyName }) => propertyName),
      );
    known.set(type, properties);
    return properties;
  };
}

const NO_FIELD_ERRORS: FieldErrors = Object.freeze(emptyFieldErrors());
const NO_NAMES: ReadonlySet<string> = new Set();
/** The names of the validators that admit a date only as text. */
const DATE_TEXT_VALIDATORS: ReadonlySet<string> = new Set([
  'isDateString',
  'isIso8601',
  'isRFC3339',
  'isString',
  'isLength',
  'minLength',
  'maxLength',
  'matches',
  'contains',
]);

async function importClassValidator(): Promise<ClassValidator | undefined> {
  try {
    return await import('class-validator');
  } catch (error) {
    if (isMissingPackage(error)) return undefined;
    throw error;
  }
}

/** Replaces the messages about a stored value that the caller may not read: `$value` would disclose it. */
const NOT_VALID = 'Not a valid value.';

/** The errors of the fields that clients can write. Clients could not correct the others. */
function fieldErrors(
  found: readonly ValidationErrorLike[],
  fields: readonly Field[],
  { entity, written }: { readonly entity: object; readonly written: Written },
): FieldErrors {
  const errors = emptyFieldErrors();
  for (const { property, constraints, children } of found) {
    const field = fields.find((each) => each.name === property && isAcceptedInBodies(each));
    // Validators of a row see no children.
    if (!field || isNested(field)) continue;
    const value = (entity as Readonly<Record<string, unknown>>)[property];
    const isWritten = written.values.has(property);
    if (field.kind === 'embedded' && children && children.length > 0)
      Object.assign(errors, embeddedErrors(children, field, { entity: Object(value) as object, written }));
    else if (!isWritten && (value === null || isDefault(field, value))) continue;
    else if (!field.readable && !isWritten) errors[property] = [NOT_VALID];
    else
      errors[property] = messagesOf({ property, constraints: constraints ?? {}, children: children ?? [] });
  }
  return errors;
}

function embeddedErrors(
  found: readonly ValidationErrorLike[],
  { name, fields }: EmbeddedField,
  { entity, written }: { readonly entity: object; readonly written: Written },
): FieldErrors {
  const inner = fieldErrors(found, fields, { entity, written: writtenWithin(written, name) });
  return Object.keys(inner).length > 0 ? { [name]: inner } : {};
}

/** Whether it is the column's default, with which an object can be created. */
function isDefault(field: Field, value: unknown): boolean {
  if (field.kind !== 'column' || field.defaultText === undefined) return false;
  const { defaultText: text } = field;
  return String(value) === text || (text !== '' && value !== '' && Number(value) === Number(text));
}

function messagesOf({ constraints, children }: ValidationErrorLike): string[] {
  const own = Object.values(constraints ?? {});
  return own.length > 0 ? own : (children ?? []).flatMap(messagesOf);
}

/** The values of the fields that a write sets, and the body from which they were parsed. */
interface Written {
  readonly values: ReadonlyMap<string, unknown>;
  readonly sent?: Readonly<Record<string, unknown>> | undefined;
}

/** The properties of a class whose validators expect a date as text. */
type DatesAsTexts = (type: unknown) => ReadonlySet<string>;

/**
 * The view of an entity that is validated: dates are the texts that were sent if the validators expect texts, and columns that
 * are null and not written are undefined, so that they are not validated. The entity itself if there is no difference.
 */
function validatedView(
  entity: object,
  fields: readonly Field[],
  { written, datesAsTexts }: { readonly written: Written; readonly datesAsTexts: DatesAsTexts },
): object {
  const texts = datesAsTexts(entity.constructor);
  const own = new Map<string, unknown>();
  for (const field of fields) {
    if (!isReplaceable(field) || isLazyRelation(entity, field.name)) continue;
    const value = (entity as Readonly<Record<string, unknown>>)[field.name];
    const replaced = viewValue(field, value, { written, datesAsTexts, isText: texts.has(field.name) });
    if (replaced !== value) own.set(field.name, replaced);
  }
  return own.size === 0 ? entity : withProperties(entity, own);
}

/** The kinds of fields whose value the view may replace. Others, such as links of to-many relations, are not read. */
function isReplaceable(field: Field): boolean {
  const { kind } = field;
  if (kind !== 'column' && kind !== 'to-one' && kind !== 'embedded') return false;
  return isWritable(field) || field.readable;
}

/** A lazy relation: reading it would start a query beside the write, whose promise nothing awaits. */
function isLazyRelation(entity: object, name: string): boolean {
  return Object.getOwnPropertyDescriptor(entity, name)?.get !== undefined;
}

interface ViewOptions {
  readonly written: Written;
  readonly datesAsTexts: DatesAsTexts;
  readonly isText: boolean;
}

function viewValue(field: Field, value: unknown, { written, datesAsTexts, isText }: ViewOptions): unknown {
  const isWritten = written.values.has(field.name);
  switch (field.kind) {
    case 'column':
      if (value === null && !isWritten) return undefined;
      if (field.type.kind === 'boolean') return storedBoolean(value) ?? value;
      return isText ? textOfDate(field, value, isWritten ? written : undefined) : value;
    case 'to-one':
      return value === null && !isWritten ? undefined : value;
    case 'embedded':
      return typeof value === 'object' && value !== null
        ? validatedView(value, field.fields, { written: writtenWithin(written, field.name), datesAsTexts })
        : value;
    default:
      return value;
  }
}

/** The part of a write that sets an embedded object. */
function writtenWithin({ values, sent }: Written, name: string): Written {
  return {
    values: new Map(Object.entries(values.get(name) ?? {})),
    sent: sent?.[name] as Readonly<Record<string, unknown>> | undefined,
  };
}

/** The text that was sent, or the canonical text if the date was stored before or its text is unknown. */
function textOfDate({ name, type }: ColumnField, value: unknown, written: Written | undefined): unknown {
  if (Array.isArray(value)) {
    const sent = written?.sent?.[name] as readonly unknown[] | undefined;
    const of = type.kind === 'list' ? type.of : type;
    return value.map((item: unknown, index) => textOfItem(item, sent?.[index], of));
  }
  return textOfItem(value, written?.sent?.[name], type);
}

function textOfItem(value: unknown, sent: unknown, type: DataType): unknown {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return value;
  if (typeof sent === 'string') return sent;
  if (type.kind !== 'date') return value.toISOString();
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${String(value.getFullYear()).padStart(4, '0')}-${two(value.getMonth() + 1)}-${two(value.getDate())}`;
}

/** The result inherits from the entity, so that getters and methods use the replaced properties. */
function withProperties(entity: object, own: ReadonlyMap<string, unknown>): object {
  return Object.create(
    entity,
    Object.fromEntries(
      [...own].map(([name, value]) => [
        name,
        { value, enumerable: true, configurable: true, writable: true },
      ]),
    ),
  ) as object;
}
