import type { ReverseOneField, ToOneField } from './field.js';
import type { ObjectLabel } from './object-label.js';
import { resourceOf } from './resource.js';
import type { Resource } from './resource.js';

/** A field that refers to one object of a model with labels. */
export interface LabelledField {
  readonly field: ToOneField | ReverseOneField;
  readonly target: Resource;
  readonly label: ObjectLabel;
}

/** The readable fields whose objects have labels in those of this model. */
export function labelledFields(resource: Resource): readonly LabelledField[] {
  return resource.fields.flatMap((field) => {
    if ((field.kind !== 'to-one' && field.kind !== 'reverse-one') || !field.readable) return [];
    const target = resourceOf(field.relation.target);
    const { objectLabel: label } = target;
    return label && isReadableFrom(target, resource) ? [{ field, target, label }] : [];
  });
}

/** Whether values of a model may be in responses of another one: if it has an operation that reads them, behind no further guard. */
export function isReadableFrom(target: Resource, from: Resource): boolean {
  const { operations } = target;
  return (operations.has('list') || operations.has('retrieve')) && runsGuardsOf(target, from);
}

/** Whether every guard of the target also runs for requests to the other model. One of several schemes may not have run. */
export function runsGuardsOf(target: Resource, from: Resource): boolean {
  const sameSchemes =
    target.schemes.length === from.schemes.length &&
    target.schemes.every((scheme, index) => scheme === from.schemes[index]);
  const required = sameSchemes ? target.lateGuards : target.guards;
  const passed = from.schemes.length > 1 ? from.lateGuards : from.guards;
  return required.every((guard) => passed.includes(guard));
}
