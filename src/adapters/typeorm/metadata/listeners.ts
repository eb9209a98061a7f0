import type { DataSource, EntityMetadata, EntitySubscriberInterface } from 'typeorm';
import type { EntityListenerMetadata } from 'typeorm/metadata/EntityListenerMetadata.js';
import { sharesTable } from './inheritance.js';

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

/** As in the source of the application: `Order.setTotal`. */
export function nameOfListener({
  target,
  propertyName,
}: Pick<EntityListenerMetadata, 'target' | 'propertyName'>): string {
  return `${typeof target === 'function' ? target.name : target}.${propertyName}`;
}

/**
 * Restricts the listeners of entities with a shared table to objects of the class that declares them. TypeORM calls those
 * of a subclass on the objects of its base and its siblings, too, and fails.
 */
export function restrictSubtypeListeners({ entityMetadatas }: DataSource): void {
  for (const metadata of entityMetadatas.filter(sharesTable))
    for (const listener of metadata.ownListeners) {
      const { target } = listener;
      if (typeof target === 'function' && target.prototype instanceof (metadata.target as typeof Object))
        listener.isAllowed = (entity) => entity instanceof target;
    }
}
