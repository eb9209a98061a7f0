// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class OfAnn implements Permission {
  decide(): Grant {
    return allow({ rows: where('tenant', 'ann') });
  }
}

/** By the header `x-may`: the fields that may be written, and behind a slash those that may be read. */
class NamedFields implements Permission {
  decide({ request }: AccessContext): Grant {
    const { headers } = request as { headers: Record<string, string | undefined> };
    const [writable, readable] = (headers['x-may'] ?? '*/*').split('/');
    return allow({
      ...(writable === '*' ? {} : { writable: writable?.split(',') ?? [] }),
      ...(readable === '*' ? {} : { readable: readable?.split(',') ?? [] }),
    });
  }
}

@Restify({ app: 'fg', permissions: [OfAnn] })
@Entity('fg_project')
class FgProject {
  @PrimaryColumn('int') id: number;
  @Column({ length: 10, unique: true }) code: string;
  @Column({ length: 10 }) tenant: string;
}

@Restify({ app: 'fg', permissions: [NamedFields], bulk: { upsert: ['title'] } })
@Entity('fg_task')
class FgTask {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @Column('int', { nullable: true }) projectId: number | null;
  @ManyToOne(() => FgProject) @JoinColumn({ name: 'projectId' }) project: Relation<FgProject> | null;
  @Column({ length: 10, nullable: true }) otherCode: string | null;
  @ManyToOne(() => FgProject)
  @JoinColumn({ name: 'otherCode', referencedColumnName: 'code' })
  other: Relation<FgProject> | null;
}

const TASKS = '/rest/v1/fg/fgtask/';

function none(key: string | number): string[] {
  return [`Invalid pk "${key}" - object does not exist.`];
}

onEachDatabase('S23 grants of a foreign key with two names', (database) => {
  let started: StartedApp;
  let url: string;
  let id: number;
  beforeAll(async () => {
    started = await startApp({ entities: [FgProject, FgTask], database });
    await started.dataSource.manager.insert(FgProject, [
      { id: 1, code: 'one', tenant: 'ann' },
      { id: 2, code: 'two', tenant: 'bob' },
      { id: 3, code: 'three', tenant: 'ann' },
    ]);
    id = ((await started.client.post(TASKS, { title: 'mine', project: 1, other: 1 })).json as FgTask).id;
    url = `${TASKS}${id}/`;
  });
  afterAll(() => started.close());

  const restored = async (projectId: number | null, otherCode: string | null): Promise<void> => {
    await started.dataSource.manager.update(FgTask, id, { projectId, otherCode });
  };

  test('no name leads to a row that the caller cannot see, also beside the other one', async () => {
    const { client } = started;
    for (const [body, errors] of [
      [{ projectId: 2 }, { projectId: none(2) }],
      [{ project: 2 }, { project: none(2) }],
      [{ project: 2, projectId: 2 }, { project: none(2) }],
      [{ otherCode: 'two' }, { otherCode: none('two') }],
      [
        { otherCode: 'two', other: 2 },
        { otherCode: none('two'), other: none(2) },
      ],
    ] as const) {
      expect([body, (await client.post(TASKS, { title: 'new', ...body })).json]).toEqual([body, errors]);
      expect([body, (await client.post(`${TASKS}?upsert=true`, [{ title: 'new', ...body }])).json]).toEqual([
        body,
        [errors],
      ]);
    }
    for (const [body, errors] of [
      [{ project: 1, projectId: 2 }, { projectId: none(2) }],
      [{ project: 2, projectId: 1 }, { project: none(2) }],
      [{ other: 1, otherCode: 'two' }, { otherCode: none('two') }],
      [{ other: 2, otherCode: 'one' }, { other: none(2) }],
    ] as const)
      for (const method of ['PUT', 'PATCH'])
        expect([body, (await client.send(method, url, { body: { title: 'mine', ...body } })).json]).toEqual([
          body,
          errors,
        ]);
    // Of a hidden row nothing is told by a comparison with what refers to it.
    for (const otherCode of ['two', 'three', 'nine'])
      expect((await client.patch(url, { other: 2, otherCode })).json).toEqual({ other: none(2) });
  });

  test('a reference to a hidden row is changed by one name, and put back by the other', async () => {
    await restored(2, 'two');
    const { client } = started;
    const before = (await client.get(url)).json as object;
    expect(before).toMatchObject({ project: 2, projectId: 2, other: 2, otherCode: 'two' });
    expect(await client.put(url, { ...before, project: 3, otherCode: 'three' })).toMatchObject({
      status: 200,
      json: { project: 3, projectId: 3, other: 3, otherCode: 'three' },
    });
    await restored(1, 'one');
  });

  test('who may not write the relation may not write it by its column, and who may may do so by both', async () => {
    const { client } = started;
    for (const [may, body, shown] of [
      ['title/*', { projectId: 3, otherCode: 'three' }, { project: 1, other: 1 }],
      ['title,projectId/*', { projectId: 3, project: 3 }, { project: 1 }],
      ['title,project/*', { projectId: 3 }, { project: 3 }],
      ['title,project/*', { project: 1, projectId: 3 }, { project: 3 }],
    ] as const) {
      const headers = { 'x-may': may };
      const before = { title: 'mine', ...body };
      expect([may, await client.patch(url, before, { headers })]).toMatchObject([
        may,
        { status: 200, json: shown },
      ]);
      const { PUT } = ((await client.send('OPTIONS', url, { headers })).json as Options).actions;
      expect(PUT).toMatchObject({
        projectId: { read_only: true },
        project: { read_only: !may.includes('project/') },
      });
      const made = await client.post(TASKS, { title: 'by grant', ...body }, { headers });
      expect([may, made.status]).toEqual([may, may.includes('project/') && 'project' in body ? 400 : 201]);
      await started.dataSource.manager.delete(FgTask, { title: 'by grant' });
      await client.patch(url, { project: 1 });
    }
  });

  test('what the caller may not read is not compared', async () => {
    const { client } = started;
    const differ = {
      project: ['This field and "projectId" name different objects.'],
      projectId: ['This field and "project" name different objects.'],
    };
    for (const [readable, body, status] of [
      ['title', { project: 1, projectId: 3 }, 400],
      ['title', { project: 3, projectId: 1 }, 400],
      ['title,project', { project: 3, projectId: 1 }, 400],
      ['title,projectId', { project: 1, projectId: 3 }, 400],
      ['title,project', { project: 1, projectId: 3 }, 200],
      ['title,projectId', { project: 3, projectId: 1 }, 200],
    ] as const) {
      const answer = await client.patch(url, body, { headers: { 'x-may': `*/${readable}` } });
      expect([readable, body, answer.status]).toEqual([readable, body, status]);
      if (status === 400) expect(answer.json).toEqual(differ);
      await client.patch(url, { project: 1 });
    }
  });
});

interface Options {
  readonly actions: Readonly<Record<string, unknown>>;
}
