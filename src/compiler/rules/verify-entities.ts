import { storesResponses } from '../../core/contracts/idempotency.js';
import type { RestifyOptions } from '../../decorators/model-options.js';
import { effectiveOptions } from '../effective-options.js';
import type { ColumnDescription, EntityDescription } from '../../core/schema/entity-metadata.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { exposedMember } from '../exposed-properties.js';
import { declaredColumns, topName } from '../property-names.js';
import { nameOfPrefix, problem } from './problems.js';
import type { Problems } from './problems.js';
import { optionLocations } from './verify-options.js';

const PREFIX = /^(?:[A-Za-z0-9_.~-]+(?:\/[A-Za-z0-9_.~-]+)*)?$/;
const MODEL_SEGMENT = /^[a-z0-9][a-z0-9_-]*$/;

/** Verifies that a prefix is a plain path, and unique. */
export function* verifyPrefix({ prefix, takenPrefixes }: CompilerInput): Problems {
  if (!PREFIX.test(prefix))
    yield problem(
      nameOfPrefix(prefix),
      `"${prefix}" is not a valid path`,
      "Write segments of letters, digits, '_', '-' and '.', with slashes between: 'rest/v1'.",
    );
  else if (takenPrefixes.includes(prefix))
    yield problem(
      nameOfPrefix(prefix),
      'the prefix is given twice',
      'Give each forRoot a prefix of its own.',
    );
}

/** Verifies that a listed class is an entity of the data source, and declared if it has an app label. */
export function* verifyListedClasses({ listed, description }: CompilerInput): Problems {
  const known = new Set(description.entities.flatMap((entity) => entity.targets));
  for (const { target, name, listedIn, declared } of listed) {
    if (!declared)
      yield problem(
        listedIn,
        `${name} has no declaration`,
        `Decorate it with @Restify(), or call restify(${name}).`,
      );
    else if (!known.has(target))
      yield problem(
        name,
        `it is decorated with @Restify and listed in ${listedIn}, and the data source knows no such entity`,
        `Put @Entity() on ${name} and add it to the data source's entities, or take @Restify off.`,
      );
  }
}

/** Rejects entities whose files were loaded after Nest had read the controllers: they would have no routes. */
export function* verifyLayout({ declarations, laidOut }: CompilerInput): Problems {
  for (const { declaration } of declarations)
    if (!laidOut.has(declaration.target))
      yield problem(
        declaration.name,
        'its file was loaded after the modules were scanned, as happens if the data source finds entities by a file pattern',
        `Import ${declaration.name} from a file of the application, or list the class in TypeOrmModule.forFeature([${declaration.name}]) with autoLoadEntities.`,
      );
}

/** Verifies that every model has a unique path of two lower-case words (contract 1.1). */
export function* verifyPaths({ declarations }: CompilerInput): Problems {
  const byPath = new Map<string, EntityDeclaration[]>();
  for (const draft of declarations) {
    const { app, model, declaration } = draft;
    const { name } = declaration;
    if (app === undefined)
      yield problem(
        name,
        'it has no app label',
        `Write @Restify('blog'), or RestifyModule.forFeature('blog', [${name}]) in a module.`,
      );
    else {
      if (!MODEL_SEGMENT.test(app)) yield notAWord(`${name}.app`, app);
      if (!MODEL_SEGMENT.test(model)) yield notAWord(`${name}.name`, model);
    }
    const path = `${app ?? ''}/${model}`;
    byPath.set(path, [...(byPath.get(path) ?? []), draft]);
  }
  for (const [path, sharing] of byPath) {
    const [first, second] = sharing;
    if (first?.app !== undefined && second)
      yield problem(
        sharing.map(({ declaration }) => declaration.name).join(', '),
        `all of them have the path "${path}"`,
        `Give one of them a name of its own: @Restify({ app: '${first.app}', name: 'other${first.model}' }).`,
      );
  }
}

function notAWord(where: string, word: string): ReturnType<typeof problem> {
  const mended = word
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+|-+$/g, '');
  return problem(
    where,
    `"${word}" is not allowed in a path`,
    `Write "${mended || 'blog'}": lower-case letters, digits, "_" and "-".`,
  );
}

/** Reports unsupported features of served entities, so that none is served incorrectly. */
export function* verifySupported({ declarations }: CompilerInput): Problems {
  const registered = new Map(declarations.map(({ entity }) => [entity.id, entity]));
  for (const draft of declarations) {
    const { declaration, entity } = draft;
    for (const { what, repair, readable } of entity.unsupported)
      if (!(readable && isOnlyRead(draft))) yield problem(declaration.name, what, repair);
    for (const relation of entity.unjoined)
      // A relation to an entity that is not registered has no field.
      if (registered.has(relation.target) && hasField({ ...relation, kind: 'one-to-many', on: [] }, draft))
        yield problem(
          `${declaration.name}.${relation.path}`,
          'neither side of this many-to-many has a join table',
          `Write @JoinTable() on one side, or leave it out: exclude: ['${relation.path}'].`,
        );
    yield* foreignKeyProblems(draft, registered);
    for (const column of declaredColumns(entity)) {
      yield* columnProblems(column, draft);
      yield* keyProblems(column, draft);
    }
  }
}

function isOnlyRead({ declaration: { options } }: EntityDeclaration): boolean {
  return options.operations?.every((operation) => operation === 'list' || operation === 'retrieve') === true;
}

function hasField(
  member: Parameters<typeof exposedMember>[0],
  { declaration: { options }, entity }: EntityDeclaration,
): boolean {
  return exposedMember(member, { entity, options, isServed: () => true }).hasField;
}

function* columnProblems(column: ColumnDescription, draft: EntityDeclaration): Problems {
  const { unsupported, unsupportedArray, selected, path } = column;
  if (unsupported === undefined || !selected || !hasField(column, draft)) return;
  const where = `${draft.declaration.name}.${path}`;
  const leaveOut = `eave it out: exclude: ['${topName(column)}'].`;
  if (unsupported === '')
    yield problem(
      where,
      'the type of its column is unknown',
      `Write @Column({ type: … }) in place of @ViewColumn(), or l${leaveOut}`,
    );
  else if (unsupportedArray)
    yield problem(
      where,
      `TypeORM cannot write arrays of the type "${unsupported}" to this database`,
      `Write @Column('simple-array') or @Column('simple-json') without array: true, or l${leaveOut}`,
    );
  else yield problem(where, `its column type "${unsupported}" has no form in JSON`, `L${leaveOut}`);
}

function* keyProblems({ path, unfitKey }: ColumnDescription, draft: EntityDeclaration): Problems {
  const { name, options } = draft.declaration;
  if (unfitKey === undefined) return;
  const canBeRead = unfitKey.isReadable && Object.keys(options.computed ?? {}).length === 0;
  if (canBeRead && isOnlyRead(draft)) return;
  const reading = canBeRead
    ? "Serve it for reading only, with operations: ['list', 'retrieve'], or give"
    : 'Give';
  yield problem(
    `${name}.${path}`,
    `its key is ${unfitKey.what}`,
    `${reading} it a key of whole numbers, texts or UUIDs, and make this column unique, or leave the entity out: do not register it.`,
  );
}

/** Foreign keys that TypeORM would not write exactly. */
function* foreignKeyProblems(
  draft: EntityDeclaration,
  byId: ReadonlyMap<string, EntityDescription>,
): Problems {
  const { declaration, entity } = draft;
  if (isOnlyRead(draft)) return;
  for (const relation of entity.relations) {
    const target = byId.get(relation.target);
    if (!target || relation.kind !== 'to-one') continue;
    const isExact = relation.on.every(
      ({ referencedColumn }) =>
        target.columns.find((column) => column.id === referencedColumn)?.unfitKey === undefined,
    );
    const within = { entity, options: declaration.options, isServed: () => true };
    if (!isExact && exposedMember(relation, within).writable)
      yield problem(
        `${declaration.name}.${relation.path}`,
        'it refers to a key that TypeORM does not write exactly',
        `Let it be read only: readOnly: ['${topName(relation)}'].`,
      );
  }
}

/**
 * Verifies that no property has the name of a member of `Object.prototype`. Where an entity does not have the property, the ORM
 * takes what it inherits for its value.
 */
export function* verifyInheritedNames({ declarations }: CompilerInput): Problems {
  for (const { declaration, entity } of declarations)
    for (const path of new Set([...declaredColumns(entity), ...entity.relations].map((each) => each.path)))
      if (path.split('.').some((name) => Object.hasOwn(Object.prototype, name)))
        yield problem(
          `${declaration.name}.${path}`,
          'each object of JavaScript inherits a member of this name, which TypeORM would store',
          "Rename the property; @Column({ name: '…' }) keeps the name of the column.",
        );
}

/** Verifies that the table of stored responses exists where `idempotency` needs it, and is not exposed. */
export function* verifyStoredResponses(input: CompilerInput): Problems {
  const { declarations, description } = input;
  if (!description.entities.some(({ targets }) => targets.some(storesResponses)))
    for (const { where, options } of optionLocations(input))
      if (options.idempotency !== undefined && options.idempotency !== false)
        yield problem(
          `${where}.idempotency`,
          'the data source has no table for the stored responses',
          "Add IdempotencyRecord of 'nestjs-restify' to the data source's entities, and make its table, restify_idempotency, by a migration or synchronize.",
        );
  for (const { where, options } of optionLocations(input)) {
    const { responses, idempotency } = effectiveOptions(options as RestifyOptions, input.defaults);
    if (responses !== undefined && idempotency !== undefined && idempotency !== false)
      yield problem(
        `${where}.responses`,
        'the response to a request with an Idempotency-Key is stored in its transaction',
        'Take `responses` away, or set `idempotency: false`.',
      );
  }
  for (const { entity, declaration } of declarations)
    if (entity.targets.some(storesResponses))
      yield problem(
        declaration.name,
        'it stores the responses of all callers, and must not be served',
        'Take the declaration away, and leave the class among the entities of the data source.',
      );
}
