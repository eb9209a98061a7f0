import type { EntityMetadata, EntitySubscriberInterface } from 'typeorm';

/** Whether a subscriber receives the events of this entity. */
export function listensTo(subscriber: EntitySubscriberInterface, metadata: EntityMetadata): boolean {
  const target: unknown = subscriber.listenTo?.();
  return (
    target === undefined ||
    target === Object ||
    target === metadata.target ||
    (typeof target === 'function' && metadata.inheritanceTree.includes(target))
  );
}
