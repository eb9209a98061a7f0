import { didYouMean } from '../../core/errors/declaration-error.js';
import type { EntityDescription } from '../../core/schema/entity-metadata.js';
import { FIELD_TYPES } from '../../core/schema/field-type.js';
import type { Resource } from '../../core/schema/resource.js';
import type { RestifyOptions } from '../../decorators/model-options.js';
import { isLabelField, namesInLabel } from '../compile-label.js';
import type { CompiledModel } from '../compile-resources.js';
import { keyColumns } from '../compile-transforms.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { declaredColumns, propertyNames, topName } from '../property-names.js';
import { problem } from './problems.js';
import type { Flaw, Problems } from './problems.js';

const LISTS = [
  'fields',
  'exclude',
  'readOnly',
  'writeOnly',
  'optional',
] as const satisfies readonly (keyof RestifyOptions)[];

/** Verifies that options refer to existing properties of the entity which can be exposed. */
export function* verifyPropertyNames({ declarations }: CompilerInput): Problems {
  for (const draft of declarations) {
    const { name: model, options } = draft.declaration;
    for (const option of LISTS)
      for (const [index, name] of (options[option] ?? []).entries())
        yield* propertyNameProblem(name, `${option}[${index}]`, draft);
    for (const name of Object.keys(options.trim ?? {}))
      yield* propertyNameProblem(name, `trim.${name}`, draft);
    for (const name of options.readOnly ?? [])
      if (options.writeOnly?.includes(name) === true)
        yield problem(
          `${model}.readOnly`,
          `"${name}" is writeOnly as well`,
          'Name it in one of the two, or in exclude to leave it out.',
        );
  }
}

function* propertyNameProblem(
  name: string,
  option: string,
  { declaration, entity }: EntityDeclaration,
): Problems {
  const known = propertyNames(entity);
  const where = `${declaration.name}.${option}`;
  if (!known.has(name))
    yield problem(where, `"${name}" is not a field of ${declaration.name}`, didYouMean(name, known));
  const hidden = declaredColumns(entity).some((column) => topName(column) === name && !column.selected);
  if (hidden && option.startsWith('fields') && !(declaration.options.writeOnly ?? []).includes(name))
    yield problem(
      where,
      `"${name}" is a column with select: false, and is never shown`,
      'Take it out, or name it in writeOnly to let clients set it.',
    );
}

/** Verifies that `listenerRelations` are relations: first one with a foreign key in the row itself, then any. */
export function* verifyListenerRelations({ declarations, description }: CompilerInput): Problems {
  const byId = new Map(description.entities.map((entity) => [entity.id, entity]));
  for (const { declaration, entity } of declarations)
    for (const [index, path] of (declaration.options.listenerRelations ?? []).entries()) {
      const unfit = unfitPath(path, entity, byId);
      if (unfit) yield { where: `${declaration.name}.listenerRelations[${index}]`, ...unfit };
    }
}

function unfitPath(
  path: string,
  entity: EntityDescription,
  byId: ReadonlyMap<string, EntityDescription>,
): Flaw | undefined {
  const found = relationOf(path, entity);
  if (found && found.kind !== 'to-one')
    return {
      what: `"${found.path}" has no foreign key in ${entity.name}`,
      repair: 'Name a relation with the foreign key, and with a dot what lies behind it.',
    };
  return found ? unfitBeyond(path, found, byId) : unknownRelation(path, entity);
}

function unfitBeyond(
  path: string,
  found: EntityDescription['relations'][number],
  byId: ReadonlyMap<string, EntityDescription>,
): Flaw | undefined {
  const rest = path.slice(found.path.length + 1);
  const entity = byId.get(found.target);
  if (rest === '' || !entity) return undefined;
  const next = relationOf(rest, entity);
  return next ? unfitBeyond(rest, next, byId) : unknownRelation(rest, entity);
}

/** The longest match, because a relation in an embedded object has dots in its own name. */
function relationOf(
  path: string,
  { relations }: EntityDescription,
): EntityDescription['relations'][number] | undefined {
  return relations.find((relation) => path === relation.path || path.startsWith(`${relation.path}.`));
}

function unknownRelation(path: string, { name, relations }: EntityDescription): Flaw {
  return {
    what: `"${path}" is not a relation of ${name}`,
    repair: didYouMean(
      path,
      relations.map((relation) => relation.path),
    ),
  };
}

/** Verifies that `type` has known types, and only for columns with a transformer: others have the type of the column. */
export function* verifyFieldTypes({ declarations }: CompilerInput): Problems {
  for (const draft of declarations) {
    const { name, options } = draft.declaration;
    for (const [path, given] of Object.entries((options.type ?? {}) as Readonly<Record<string, unknown>>)) {
      const flaw = given === undefined ? undefined : unfitFieldType(path, given, draft);
      if (flaw) yield { where: `${name}.type.${path}`, ...flaw };
    }
  }
}

function unfitFieldType(
  path: string,
  given: unknown,
  { entity, declaration }: EntityDeclaration,
): Flaw | undefined {
  const columns = declaredColumns(entity);
  const column = columns.find((each) => each.path === path);
  if (!column)
    return {
      what: `"${path}" is not a column of ${declaration.name}`,
      repair: didYouMean(
        path,
        columns.flatMap((each) => (each.transformer ? [each.path] : [])),
      ),
    };
  if (!column.transformer)
    return {
      what: 'its column has no transformer, so its type is known',
      repair: 'Take it out, or write @Column({ transformer: … }).',
    };
  if (keyColumns(entity).has(column.id))
    return {
      what: 'its column is part of a key, whose values are shown as they are stored',
      repair: 'Take it out.',
    };
  return typeof given === 'string' && FIELD_TYPES.includes(given)
    ? undefined
    : { what: `${JSON.stringify(given)} is not a type`, repair: didYouMean(String(given), FIELD_TYPES) };
}

/** Verifies that the option `label` names readable fields whose values are texts for people. */
export function* verifyLabel({ declarations }: CompilerInput, { resources }: CompiledModel): Problems {
  for (const { entity, declaration } of declarations) {
    const { label } = declaration.options;
    const resource = label === undefined ? undefined : resources.find((each) => each.entity === entity.id);
    if (!resource || label === undefined) continue;
    const where = `${declaration.name}.label`;
    const names = namesInLabel(label);
    if (names.length === 0 || /[{}]/.test(label.replace(/\{[^{}]*\}/g, '')))
      yield problem(
        where,
        `${JSON.stringify(label)} is not a template`,
        "Use the name of a field, or names in braces: '{first_name} {last_name}'.",
      );
    else for (const name of names) yield* labelNameProblem(where, name, resource);
  }
}

function* labelNameProblem(where: string, name: string, { fields }: Resource): Problems {
  const field = fields.find((each) => each.name === name);
  if (!field || (!field.readable && field.kind === 'column'))
    yield problem(
      where,
      `"${name}" is not a readable field`,
      didYouMean(
        name,
        fields.filter(isLabelField).map((each) => each.name),
      ),
    );
  else if (!isLabelField(field))
    yield problem(
      where,
      `"${name}" has no value that can be read as a text`,
      'Use columns with texts, numbers, dates, booleans or enumerations.',
    );
}

/** Verifies that a computed field has a unique name, and a function or an existing method of the entity. */
export function* verifyComputed({ declarations }: CompilerInput): Problems {
  for (const { declaration, entity } of declarations) {
    const methods = entity.targets.flatMap((target) => methodNames(target as object));
    for (const [name, source] of Object.entries(declaration.options.computed ?? {}) as readonly (readonly [
      string,
      unknown,
    ])[]) {
      const where = `${declaration.name}.computed.${name}`;
      if (propertyNames(entity).has(name))
        yield problem(where, `"${name}" is a field already`, 'Give the computed field another name.');
      if (typeof source !== 'function' && !methods.includes(String(source)))
        yield problem(
          where,
          `"${String(source)}" is not a method of ${declaration.name}`,
          methods.length > 0 ? didYouMean(String(source), methods) : 'Write a function of the entity.',
        );
    }
  }
}

function methodNames(target: object): readonly string[] {
  const names: string[] = [];
  for (
    let prototype = (target as { prototype?: object }).prototype;
    prototype && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype) as object
  )
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (name !== 'constructor' && typeof value === 'function') names.push(name);
  return names;
}
