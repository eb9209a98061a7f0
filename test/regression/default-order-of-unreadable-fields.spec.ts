// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** `readable`: "all others are neither shown, filtered, searched nor ordered by". The salary may be guessed at by writing. */
class WithoutSalary implements Permission {
  decide(): Grant {
    return allow({ readable: ['id', 'name'] });
  }
}

class OwnTeams implements Permission {
  decide(): Grant {
    return allow({ rows: where('lead', 'ann') });
  }
}

@Restify({ app: 'od', permissions: [WithoutSalary], ordering: ['-salary'] })
@Entity()
class OdWorker {
  @PrimaryColumn() id: number;
  @Column() name: string;
  @Column() salary: number;
}

@Restify({ app: 'od', permissions: [OwnTeams] })
@Entity()
class OdTeam {
  @PrimaryColumn() id: number;
  @Column() lead: string;
  @Column() budget: number;
}

@Restify({ app: 'od', permissions: [], ordering: ['team.budget'] })
@Entity()
class OdDesk {
  @PrimaryColumn() id: number;
  @ManyToOne(() => OdTeam, { nullable: true }) team: Relation<OdTeam> | null;
}

describe("the model's own order", () => {
  let started: StartedApp;
  const ids = async (path: string): Promise<unknown> =>
    ((await started.client.get(path)).json as readonly { id: number }[]).map(({ id }) => id);

  beforeAll(async () => {
    started = await startApp({ entities: [OdWorker, OdTeam, OdDesk] });
    const { manager } = started.dataSource;
    await manager.save(OdWorker, [
      { id: 1, name: 'a', salary: 10 },
      { id: 2, name: 'b', salary: 30 },
      { id: 3, name: 'c', salary: 20 },
    ]);
    const [rich, poor] = await manager.save(OdTeam, [
      { id: 1, lead: 'bob', budget: 900 },
      { id: 2, lead: 'bob', budget: 100 },
    ]);
    await manager.save(OdDesk, [
      { id: 1, team: rich ?? null },
      { id: 2, team: poor ?? null },
    ]);
  });
  afterAll(() => started.close());

  test('does not depend on a field that the caller may not read', async () => {
    expect(await ids('/rest/v1/od/odworker/')).toEqual([1, 2, 3]);
    // A binary search over rows of one's own finds the exact value.
    await started.client.patch('/rest/v1/od/odworker/1/', { salary: 25 });
    expect(await ids('/rest/v1/od/odworker/')).toEqual([1, 2, 3]);
  });

  test('does not depend on related rows that the caller may not see', async () => {
    expect((await started.client.get('/rest/v1/od/odteam/1/')).status).toBe(404);
    expect(await ids('/rest/v1/od/oddesk/')).toEqual([1, 2]);
  });
});
