import type { CompiledPermission } from '../../core/contracts/permission.js';
import type { ColumnDescription, RelationDescription } from '../../core/schema/entity-metadata.js';
import { isWritable } from '../../core/schema/field.js';
import type { Field } from '../../core/schema/field.js';
import type { Resource } from '../../core/schema/resource.js';
import type { RestifyOptions } from '../../decorators/model-options.js';
import type { CompiledModel } from '../compile-resources.js';
import { isUntyped, keyColumns } from '../compile-transforms.js';
import { declarationsByEntity } from '../compiler-input.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { effectiveOptions } from '../effective-options.js';
import { exposedMember } from '../exposed-properties.js';
import { polymorphicColumns } from '../foreign-keys.js';
import { declaredColumns, topName } from '../property-names.js';
import { nameOfPrefix } from './problems.js';
import { isGuard, isPassportGuard } from './unfit-scheme.js';
import { junctionWarnings } from './verify-junctions.js';
import { optionLocations } from './verify-options.js';

/** Warnings about a model, which do not prevent the start: sentences for the log. */
export function* modelWarnings(input: CompilerInput, model: CompiledModel): Iterable<string> {
  yield* openModels(input);
  yield* lateAuthGuards(input);
  yield* untypedFields(input);
  yield* unmappedRelations(input);
  yield* junctionWarnings(input, model);
  yield* polymorphicKeys(input);
  yield* hiddenAndIgnored(input, model);
}

/** Models that every caller may read and write because no permission is declared. */
function* openModels({ prefix, declarations, defaults }: CompilerInput): Iterable<string> {
  if (defaults.permissions !== undefined || hasGuards(defaults)) return;
  const open = declarations.filter(
    ({ declaration: { options } }) => options.permissions === undefined && !hasGuards(options),
  );
  if (open.length === 0) return;
  const names = open.map(({ app, model }) => `${app ?? ''}.${model}`).join(', ');
  yield (
    `${nameOfPrefix(prefix)}: everybody may read and write ${names}, because no permissions are named.` +
    ' Name permissions for each, or for all in forRoot; name [AllowAny] if this is intended.'
  );
}

/** Whether a guard protects it: a guard in `authentication` rejects unauthenticated callers. */
function hasGuards({ guards, authentication }: Pick<RestifyOptions, 'guards' | 'authentication'>): boolean {
  return (guards?.length ?? 0) > 0 || authentication?.some(isGuard) === true;
}

/** `AuthGuard` of @nestjs/passport in `guards` in addition to `authentication`: it runs after the permissions, which see its callers as anonymous. */
function* lateAuthGuards(input: CompilerInput): Iterable<string> {
  const { prefix, defaults } = input;
  const late = optionLocations(input).filter(({ options }) => {
    const { authentication, guards } = effectiveOptions(options as RestifyOptions, defaults);
    const named = authentication ?? [];
    return named.length > 0 && !named.some(isGuard) && guards?.some(isPassportGuard) === true;
  });
  if (late.length === 0) return;
  const [first] = late;
  // Reported once for forRoot, and not for each model.
  const places = first?.where.startsWith('RestifyModule') === true ? [first] : late;
  yield (
    `${nameOfPrefix(prefix)}: AuthGuard of @nestjs/passport stands in guards of ${places.map(({ where }) => where).join(', ')}, where authentication is named.` +
    ' It runs behind the permissions, to which a caller whom AuthGuard alone knows is anonymous. Move it to authentication.'
  );
}

/** Fields whose transformer has no known type: one sentence for each model. */
function* untypedFields({ declarations }: CompilerInput): Iterable<string> {
  for (const { declaration, entity } of declarations) {
    const { name, options } = declaration;
    const keys = keyColumns(entity);
    const within = { entity, options, isServed: () => true };
    const paths = declaredColumns(entity)
      .filter(
        (column) =>
          isUntyped(column, options) &&
          !keys.has(column.id) &&
          exposedMember(column, within).hasField &&
          column.unsupported === undefined,
      )
      .map(({ path }) => path);
    const types = paths.map((path) => `${path.includes('.') ? `'${path}'` : path}: 'string'`);
    if (paths.length > 0)
      yield (
        `${name}.${paths.join(`, ${name}.`)}: a transformer makes the values, and the class of the property does not say of which type,` +
        ` so that any JSON is taken and described. Name it: @Restify({ type: { ${types.join(', ')} } }).`
      );
  }
}

/** Declared relations that TypeORM does not map. */
function* unmappedRelations({ declarations }: CompilerInput): Iterable<string> {
  for (const { declaration, entity } of declarations) {
    const { fields, exclude = [] } = declaration.options;
    for (const path of entity.unmapped ?? []) {
      const top = topName({ path });
      if (!exclude.includes(path) && !exclude.includes(top) && (!fields || fields.includes(top)))
        yield (
          `${declaration.name}.${path} is left out: of an entity that extends another in its table, TypeORM neither reads nor writes relations of embedded objects.` +
          ' Declare the relation in the class itself, or leave it out by exclude.'
        );
    }
  }
}

/** Relations that are read-only because they have the same columns: one sentence for each key. */
function* polymorphicKeys({ declarations }: CompilerInput): Iterable<string> {
  const served = new Set(declarations.map(({ entity }) => entity.id));
  for (const { declaration, entity } of declarations) {
    const { name, options } = declaration;
    const columns = polymorphicColumns(entity, options);
    const keyOf = ({ relations }: (typeof columns)[number]): string =>
      relations.map(({ path }) => path).join();
    for (const key of new Set(columns.map(keyOf))) {
      const ofKey = columns.filter((each) => keyOf(each) === key);
      const relations = ofKey[0]?.relations.filter(({ target }) => served.has(target)) ?? [];
      if (relations.length === 0) continue;
      const paths = ofKey.map(({ column }) => column.path);
      yield (
        `${relations.map(({ path }) => `${name}.${path}`).join(', ')} have the same column${paths.length > 1 ? 's' : ''} and no foreign key constraint: they are read-only, and bodies write ${paths.map((path) => `${name}.${path}`).join(', ')}.` +
        ` To write the relations, which then must agree, list ${paths.map((path) => `'${path}'`).join(', ')} in readOnly.`
      );
    }
  }
}

/** Ignored decorators of class-transformer, and hidden columns: one sentence for each property. */
function* hiddenAndIgnored(
  { declarations, description }: CompilerInput,
  { all }: CompiledModel,
): Iterable<string> {
  const drafted = declarationsByEntity(declarations);
  const served = new Map(all.map((resource) => [resource.entity, resource]));
  for (const entity of description.entities) {
    const resource = served.get(entity.id);
    if (!resource) continue;
    const options = drafted.get(entity.id)?.declaration.options ?? {};
    yield* ignoredEffects(entity, options);
    yield* hiddenRequiredColumns(entity, options, resource);
    yield* hiddenKeys(entity, options);
  }
}

type Options = EntityDeclaration['declaration']['options'];

function* ignoredEffects(
  { name, exposures }: EntityDeclaration['entity'],
  { exclude = [], fields }: Options,
): Iterable<string> {
  for (const [path, { ignoredEffects: effects }] of exposures) {
    const top = topName({ path });
    if (!exclude.includes(top) && (fields === undefined || fields.includes(top)))
      for (const what of effects) yield `${name}.${path} ${what}.`;
  }
}

/** Hidden columns that are required to create a row. */
function* hiddenRequiredColumns(
  entity: EntityDeclaration['entity'],
  options: Options,
  resource: Resource,
): Iterable<string> {
  const isServed = (relation: { readonly path: string }): boolean =>
    resource.relations.get(relation.path)?.target.registered === true;
  for (const member of [...declaredColumns(entity), ...entity.relations])
    if (
      exposedMember(member, { entity, options, isServed }).hiddenButRequired &&
      isWrittenPath(member.path.split('.'), resource.fields)
    )
      yield (
        `${entity.name}.${member.path} is hidden by ${hidingOf(member)}, and required: bodies may write it, and no answer shows it.` +
        ` Name ${topName(member)} in writeOnly where this is intended, in optional where the application fills it, or in exclude.`
      );
}

function hidingOf(member: ColumnDescription | RelationDescription): string {
  return 'selected' in member && !member.selected ? 'select: false' : '@Exclude() of class-transformer';
}

/** Columns of keys, which are part of URLs. */
function* hiddenKeys(
  entity: EntityDeclaration['entity'],
  { exclude = [], fields = [] }: Options,
): Iterable<string> {
  for (const { id, path } of declaredColumns(entity))
    if (
      entity.key.includes(id) &&
      entity.exposures.get(path)?.readable === false &&
      !exclude.includes(path) &&
      !fields.includes(path)
    )
      yield (
        `${entity.name}.${path} is hidden by @Exclude() of class-transformer, and part of the key: URLs, links and fields of relations show it.` +
        ` Name ${path} in exclude where this is intended, or make a column that may be seen the key.`
      );
}

function isWrittenPath([name, ...rest]: readonly string[], fields: readonly Field[]): boolean {
  const field = fields.find((each) => each.name === name);
  if (!field || !isWritable(field)) return false;
  return field.kind === 'embedded' && rest.length > 0 ? isWrittenPath(rest, field.fields) : true;
}

/**
 * Warns of models whose permissions deny every anonymous caller, and which neither authenticate callers nor have guards. Only for
 * an application in which nothing else can set the user of a request. `authentication: []` says that something does.
 * @param needsActor whether a permission class denies every anonymous caller
 */
export function unauthenticatedModels(
  { prefix, declarations, defaults }: CompilerInput,
  { resources }: CompiledModel,
  needsActor: (permission: unknown) => boolean,
): readonly string[] {
  if (defaults.authentication !== undefined) return [];
  const silent = new Set(
    declarations
      .filter(({ declaration }) => declaration.options.authentication === undefined)
      .map(({ entity }) => entity.id),
  );
  const closed = resources.filter(
    ({ entity, schemes, permission }) =>
      silent.has(entity) && schemes.length === 0 && deniesAnonymous(permission, needsActor),
  );
  if (closed.length === 0) return [];
  return [
    `RestifyModule.forRoot('${prefix}'): no caller may use ${closed.map(({ id }) => id).join(', ')}, because the permissions need a user, and nothing authenticates:` +
      ' there is no authentication, no guard and no middleware.' +
      " Write authentication: [basic(verify)], or ['jwt'] for a Passport strategy, in forRoot or @Restify; authentication: [] says that request.user is set elsewhere.",
  ];
}

/** Custom permission classes may decide by something else than the actor. */
function deniesAnonymous(
  permission: CompiledPermission,
  needsActor: (permission: unknown) => boolean,
): boolean {
  const denies = (each: CompiledPermission): boolean => deniesAnonymous(each, needsActor);
  switch (permission.kind) {
    case 'anyone':
    case 'not':
      return false;
    case 'one':
      return needsActor(permission.permission.constructor);
    case 'all-of':
      return permission.permissions.some(denies);
    case 'any-of':
      return permission.permissions.length > 0 && permission.permissions.every(denies);
    default:
      return permission satisfies never;
  }
}
