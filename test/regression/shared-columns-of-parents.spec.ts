// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AllowAny, Restify } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { seen } from '../features/nested-answers.js';

@Restify({ app: 'sp', permissions: [AllowAny] })
@Entity('sp_user')
class SpUser {
  @PrimaryColumn('int') id: number;
  @ManyToMany(() => SpClub)
  @JoinTable({
    name: 'sp_boss',
    joinColumn: { name: 'userId' },
    inverseJoinColumn: { name: 'clubId' },
    synchronize: false,
  })
  clubs: Relation<SpClub[]>;
}

@Restify({ app: 'sp', permissions: [AllowAny] })
@Entity('sp_club')
class SpClub {
  @PrimaryColumn('int') id: number;
}

/** Two relations over the column of the parent. */
@Restify({ app: 'sp', permissions: [AllowAny], bulk: true })
@Entity('sp_boss')
class SpBoss {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => SpUser, { nullable: false }) @JoinColumn({ name: 'userId' }) user: Relation<SpUser>;
  @ManyToOne(() => SpUser, { nullable: false, createForeignKeyConstraints: false })
  @JoinColumn({ name: 'userId' })
  alias: Relation<SpUser>;
  @ManyToOne(() => SpClub, { nullable: false }) @JoinColumn({ name: 'clubId' }) club: Relation<SpClub>;
  @Column({ length: 10, default: '' }) role: string;
}

let started: StartedApp;
beforeAll(async () => {
  started = await startApp({ entities: [SpUser, SpClub, SpBoss] });
  await started.dataSource.manager.insert(SpUser, [{ id: 1 }, { id: 2 }]);
  await started.dataSource.manager.insert(SpClub, [{ id: 1 }, { id: 2 }]);
});
afterAll(() => started.close());

test('the parent in the URL fills each relation over its column, and wins over the body', async () => {
  const { client } = started;
  const list = '/rest/v1/sp/spuser/1/clubs/';
  const made = { id: 1, user: 1, alias: 1, club: 1, role: '' };
  expect(seen(await client.post(list, { club: 1 }))).toEqual([201, made]);
  expect(seen(await client.post(list, { club: 1, alias: 2, user: 2 }))).toEqual([201, { ...made, id: 2 }]);
  for (const [method, path, body, answer] of [
    ['PATCH', `${list}1/`, { alias: 2, role: 'a' }, { ...made, role: 'a' }],
    ['PUT', `${list}1/`, { alias: 9, club: 2, role: 'b' }, { ...made, club: 2, role: 'b' }],
    ['PUT', `${list}1/`, { club: 1, role: '' }, made],
    ['PATCH', list, [{ id: 1, alias: 2, role: 'c' }], [{ ...made, role: 'c' }]],
  ] as const)
    expect([method, body, ...seen(await client.send(method, path, { body }))]).toEqual([
      method,
      body,
      200,
      answer,
    ]);
  const { actions } = (await client.send('OPTIONS', list)).json as {
    actions: { POST: Record<string, { required: boolean; read_only: boolean }> };
  };
  for (const name of ['user', 'alias'])
    expect(actions.POST[name]).toMatchObject({ required: false, read_only: true });
  expect(actions.POST.club).toMatchObject({ required: true, read_only: false });
});
