import type { DataSource } from 'typeorm';
import { sharesTable } from './inheritance.js';

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
