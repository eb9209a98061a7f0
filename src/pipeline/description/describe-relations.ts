import type { RelationDescription } from '../../core/contracts/route-description.js';
import type { Field, LinkField, ReverseOneField, ToOneField } from '../../core/schema/field.js';
import { isReadableFrom } from '../../core/schema/reachable-models.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import { mayReadLabel } from '../../features/labels/add-labels.stage.js';
import { restrictFields } from '../../features/permissions/restrict-fields.js';
import type { RestContext } from '../../request/rest-context.js';
import type { ListParameters } from './describe-list-parameters.js';

/** Fields that refer to one object, and to-many relations whose keys a filter of the list compares. */
export async function describeRelations(
  view: Resource,
  context: RestContext,
  { filters }: ListParameters,
): Promise<Readonly<Record<string, RelationDescription>>> {
  const relations: [string, RelationDescription][] = [];
  for (const field of view.fields) {
    if (!field.readable || !hasRelation(field)) continue;
    if (field.kind === 'link' && !filters.some(({ field: path }) => path === field.name)) continue;
    const description = await describeRelation(resourceOf(field.relation.target), view, context);
    if (description) relations.push([field.name, description]);
  }
  return Object.fromEntries(relations);
}

function hasRelation(field: Field): field is ToOneField | ReverseOneField | LinkField {
  return field.kind === 'to-one' || field.kind === 'reverse-one' || field.kind === 'link';
}

/** Undefined if the caller may not read the related model. */
async function describeRelation(
  target: Resource,
  from: Resource,
  { access, base }: RestContext,
): Promise<RelationDescription | undefined> {
  const granted = await access.tryAuthorize(target, 'GET');
  if (!granted) return undefined;
  const isListed = target.registered && target.operations.has('list');
  const isLabelled = isReadableFrom(target, from) && mayReadLabel(restrictFields(target, granted));
  return {
    url: isListed ? `${base}/${target.app}/${target.model}/` : null,
    ...(target.key.columns.length > 1 && { composite: true }),
    label: isLabelled ? (target.objectLabel?.template ?? null) : null,
  };
}
