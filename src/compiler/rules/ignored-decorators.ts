import { isWritable } from '../../core/schema/field.js';
import type { ColumnDescription, RelationDescription } from '../../core/schema/entity-metadata.js';
import type { Field } from '../../core/schema/field.js';
import { exposedMember } from '../exposed-properties.js';
import { declaredColumns, topName } from '../property-names.js';
import { declarationsByEntity } from '../compiler-input.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import type { CompiledModel } from '../compile-resources.js';
import type { Resource } from '../../core/schema/resource.js';

/** Warnings about ignored decorators of class-transformer and about hidden columns: one sentence for each property. */
export function ignoredDecorators(
  { drafts, description }: CompilerInput,
  { all }: CompiledModel,
): readonly string[] {
  const drafted = declarationsByEntity(drafts);
  const served = new Map(all.map((resource) => [resource.entity, resource]));
  return description.entities.flatMap((entity) => {
    const resource = served.get(entity.id);
    if (!resource) return [];
    const options = drafted.get(entity.id)?.declaration.options ?? {};
    return [
      ...listIgnoredEffects(entity, options),
      ...listHiddenRequiredColumns(entity, { options, resource }),
      ...listHiddenKeys(entity, options),
    ];
  });
}

type Options = EntityDeclaration['declaration']['options'];

function listIgnoredEffects(
  { name, exposures }: EntityDeclaration['entity'],
  { exclude = [], fields }: Options,
): readonly string[] {
  return [...exposures].flatMap(([path, { ignoredEffects }]) => {
    const top = topName({ path });
    const isLeftOut = exclude.includes(top) || (fields !== undefined && !fields.includes(top));
    return isLeftOut ? [] : ignoredEffects.map((what) => `${name}.${path} ${what}.`);
  });
}

/** Hidden columns that are required to create a row. */
function listHiddenRequiredColumns(
  entity: EntityDeclaration['entity'],
  { options, resource }: { readonly options: Options; readonly resource: Resource },
): readonly string[] {
  const isServed = (relation: { readonly path: string }): boolean =>
    resource.relations.get(relation.path)?.target.registered === true;
  return [...declaredColumns(entity), ...entity.relations]
    .filter((member) => exposedMember(member, { entity, options, isServed }).hiddenButRequired)
    .filter(({ path }) => isWrittenPath(path.split('.'), resource.fields))
    .map(
      (member) =>
        `${entity.name}.${member.path} is hidden by ${hidingOf(member)}, and required: bodies may write it, and no answer shows it.` +
        ` Name ${topName(member)} in writeOnly where that is meant, in optional where the application fills it, or in exclude.`,
    );
}

function hidingOf(member: ColumnDescription | RelationDescription): string {
  return 'selected' in member && !member.selected ? 'select: false' : '@Exclude() of class-transformer';
}

/** Columns of keys, which are part of URLs. */
function listHiddenKeys(entity: EntityDeclaration['entity'], options: Options): readonly string[] {
  return declaredColumns(entity)
    .filter(({ id, path }) => entity.key.includes(id) && entity.exposures.get(path)?.readable === false)
    .filter(({ path }) => !(options.exclude ?? []).includes(path) && !(options.fields ?? []).includes(path))
    .map(
      ({ path }) =>
        `${entity.name}.${path} is hidden by @Exclude() of class-transformer, and part of the key: URLs, links and fields of relations show it.` +
        ` Name ${path} in exclude where that is meant, or make a column that may be seen the key.`,
    );
}

function isWrittenPath([name, ...rest]: readonly string[], fields: readonly Field[]): boolean {
  const field = fields.find((each) => each.name === name);
  if (!field || !isWritable(field)) return false;
  return field.kind === 'embedded' && rest.length > 0 ? isWrittenPath(rest, field.fields) : true;
}
