import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { Dialect } from '../../sql/dialects/dialect.js';
import { isObstacle, jsonRows } from '../../sql/json-object-sql.js';
import type { JsonRowCompiler } from '../../sql/json-object-sql.js';
import { chooseRead, chooseViewReads, withoutJson } from '../choose-read.js';
import type { ReadChoice, ViewReads } from '../choose-read.js';
import type { EntityRows, Session } from '../port.js';

/** How the rows of a view are read: gives its facts to the chooser, and keeps the static part of the choice. */
export class ReadChoices {
  /** The serialization by the database; undefined if it cannot write all fields. */
  readonly json: JsonRowCompiler | undefined;
  private view: ViewReads;

  constructor(
    resource: ResourceSchema,
    private readonly entities: Pick<EntityRows<Session>, 'cause' | 'obstacle' | 'loadSubscriber'>,
    { dialect, databaseType }: { readonly dialect: Dialect; readonly databaseType: string },
  ) {
    const written = entities.obstacle ?? jsonRows(resource, dialect, databaseType);
    this.json = isObstacle(written) ? undefined : written;
    this.view = chooseViewReads({
      entities: entities.cause,
      obstacle: isObstacle(written) ? written : undefined,
    });
  }

  /** @param isStored whether the stored values are the response. */
  choose(isStored: boolean): ReadChoice {
    return chooseRead(this.view, isStored, this.entities.loadSubscriber());
  }

  /** A column has another type than its entity declares: the database writes no rows from now on. */
  withdrawJson(): void {
    this.view = withoutJson(this.view);
  }
}
