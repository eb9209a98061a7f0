// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, not, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** As an actor without a team has it. */
class OfNoTeam implements Permission {
  decide(): Grant {
    return allow({ rows: where('team', 'in', []) });
  }
}

class OfOthers implements Permission {
  decide(): Grant {
    return allow({ rows: not(where('team', 'in', [])) });
  }
}

@Restify({ app: 'none', permissions: [OfNoTeam] })
@Entity('none_mine')
class Mine {
  @PrimaryColumn()
  id: number;

  @Column()
  team: string;
}

@Restify({ app: 'none', permissions: [OfOthers] })
@Entity('none_theirs')
class Theirs {
  @PrimaryColumn()
  id: number;

  @Column()
  team: string;
}

onEachDatabase('a text that is one of none', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ database, entities: [Mine, Theirs] });
    for (const entity of [Mine, Theirs])
      await started.dataSource.getRepository(entity).insert({ id: 1, team: 'red' });
  });
  afterAll(() => started.close());

  test.each([
    ['mine/', 200, []],
    ['mine/1/', 404, { detail: 'Not found.' }],
    ['theirs/', 200, [{ id: 1, team: 'red' }]],
    ['theirs/1/', 200, { id: 1, team: 'red' }],
  ])('%s is %i', async (path, status, json) => {
    const answer = await started.client.get(`/rest/v1/none/${path}`);
    expect([answer.status, answer.json]).toEqual([status, json]);
  });
});
