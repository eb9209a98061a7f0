// @tags db
import { afterEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn, UpdateDateColumn, VersionColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { StatementLog } from './statement-log.js';

@Restify({ app: 'told', conditional: true })
@Entity('told_counted')
class Counted {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
  @UpdateDateColumn() updated: Date;
  @VersionColumn() version: number;
}

@Restify({ app: 'told', conditional: true })
@Entity('told_content')
class Content {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

@Restify({ app: 'told' })
@Entity('told_plain')
class Plain {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

let started: StartedApp | undefined;

afterEach(async () => {
  await started?.close();
  started = undefined;
});

onEachDatabase('the statements of conditional requests', (database) => {
  const log = new StatementLog();

  async function logged(): Promise<StartedApp> {
    started = await startApp({
      compare: false,
      entities: [Counted, Content, Plain],
      database,
      dataSource: { logging: ['query'], logger: log },
    });
    for (const model of ['counted', 'content', 'plain'])
      expect((await started.client.post(`/rest/v1/told/${model}/`, { text: 'one' })).status).toBe(201);
    log.clear();
    return started;
  }

  const during = async (act: () => Promise<unknown>): Promise<readonly string[]> => {
    log.clear();
    await act();
    return [...log.statements];
  };

  test('an object is read with its version by one statement, for each kind of request', async () => {
    const { client } = await logged();
    for (const model of ['counted', 'content', 'plain']) {
      const url = `/rest/v1/told/${model}/1/`;
      const tag = (await client.get(url)).headers.etag ?? '"none"';
      expect(await during(() => client.get(url))).toHaveLength(1);
      expect(
        await during(() => client.get(url, { headers: { 'if-none-match': tag, 'if-match': tag } })),
      ).toHaveLength(1);
    }
  });

  test('a content is read by the statement that a model without tags is read by', async () => {
    const { client } = await logged();
    const [content] = await during(() => client.get('/rest/v1/told/content/1/'));
    const [plain] = await during(() => client.get('/rest/v1/told/plain/1/'));
    expect(content?.replaceAll('told_content', 'told_plain')).toBe(plain);
  });

  test('a write without a precondition runs the statements of a model without entity tags', async () => {
    const { client } = await logged();
    const patch = (model: string): Promise<readonly string[]> =>
      during(() => client.patch(`/rest/v1/told/${model}/1/`, { text: 'two' }));
    await patch('content');
    await patch('plain');
    expect(
      (await patch('content')).map((each) =>
        each.replaceAll('told_content', 'told_plain').replaceAll('Content', 'Plain'),
      ),
    ).toEqual(await patch('plain'));
  });

  test('a version is a condition of the statement that writes the row, or locks it', async () => {
    const { client } = await logged();
    const tag = (await client.get('/rest/v1/told/counted/1/')).headers.etag ?? '';
    const statements = await during(() =>
      client.patch('/rest/v1/told/counted/1/', { text: 'two' }, { headers: { 'if-match': tag } }),
    );
    const found = statements.filter((each) => /WHERE .*version[`"] = /.test(each));
    if (database.name === 'mariadb')
      expect(found).toContainEqual(expect.stringMatching(/^SELECT.*FOR UPDATE/));
    else expect(found).toEqual(statements.filter((each) => each.startsWith('UPDATE')));
    expect(found.length).toBeGreaterThan(0);
  });
});
