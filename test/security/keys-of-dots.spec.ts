// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AllowAny, Restify, RestifyResources } from 'nestjs-restify';
import { Column, Entity, JoinColumn, JoinTable, ManyToMany, ManyToOne, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'dots', permissions: [AllowAny], bulk: { upsert: ['slug'] } })
@Entity('dots_page')
class DotsPage {
  @PrimaryColumn({ length: 20 }) slug: string;
  @Column({ length: 20, default: '' }) title: string;
  @ManyToMany(() => DotsTag)
  @JoinTable({
    name: 'dots_through',
    joinColumn: { name: 'page' },
    inverseJoinColumn: { name: 'tag' },
    synchronize: false,
  })
  tags: Relation<DotsTag[]>;
}

@Restify({ app: 'dots', permissions: [AllowAny] })
@Entity('dots_tag')
class DotsTag {
  @PrimaryColumn({ length: 20 }) name: string;
}

@Entity('dots_through')
class DotsThrough {
  @PrimaryColumn({ length: 20 }) code: string;
  @ManyToOne(() => DotsPage) @JoinColumn({ name: 'page' }) page: Relation<DotsPage>;
  @ManyToOne(() => DotsTag) @JoinColumn({ name: 'tag' }) tag: Relation<DotsTag>;
}

@Restify({ app: 'dots', permissions: [AllowAny] })
@Entity('dots_pair')
class DotsPair {
  @PrimaryColumn({ length: 20 }) one: string;
  @PrimaryColumn({ length: 20 }) two: string;
}

const MESSAGE = 'A key cannot be "." or "..": no URL would lead to it.';

onEachDatabase('keys that are dots', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [DotsPage, DotsTag, DotsThrough, DotsPair],
      database,
      restify: { permissions: [AllowAny] },
    });
    await started.client.post('/rest/v1/dots/dotspage/', { slug: 'a' });
    await started.client.post('/rest/v1/dots/dotstag/', { name: 'a' });
  });
  afterAll(() => started.close());

  test.each(['.', '..', ' .. '])(
    '%j is refused on every way to a new object, with what else is wrong',
    async (slug) => {
      const { client } = started;
      const url = '/rest/v1/dots/dotspage/';
      const one = await client.post(url, { slug });
      expect([one.status, one.json]).toEqual([400, { slug: [MESSAGE] }]);
      expect((await client.post(url, { slug, title: 'x'.repeat(21) })).json).toMatchObject({
        slug: [MESSAGE],
        title: [expect.any(String)],
      });
      expect((await client.post(url, [{ slug: 'b' }, { slug }])).json).toEqual([{}, { slug: [MESSAGE] }]);
      expect((await client.post(`${url}?upsert=true`, [{ slug }])).json).toEqual([{ slug: [MESSAGE] }]);
      expect((await client.post(`${url}a/tags/`, { code: slug, dotstag: 'a', tag: 'a' })).json).toEqual({
        code: [MESSAGE],
      });
      await expect(
        started.app.get(RestifyResources).of(DotsPage).as(null).create({ slug }),
      ).rejects.toMatchObject({ response: { status: 400 } });
      expect(await started.dataSource.manager.count(DotsPage)).toBe(1);
      expect(await started.dataSource.manager.count(DotsThrough)).toBe(0);
    },
  );

  test('others that hold dots are keys, and so are those of several columns', async () => {
    const { client } = started;
    for (const slug of ['...', '.a', 'a..', '%2e', '. .']) {
      const made = await client.post('/rest/v1/dots/dotspage/', { slug });
      expect([slug, made.status]).toEqual([slug, 201]);
      expect((await client.get(`/rest/v1/dots/dotspage/${encodeURIComponent(slug)}/`)).json).toMatchObject({
        slug,
      });
      expect((await client.delete(`/rest/v1/dots/dotspage/${encodeURIComponent(slug)}/`)).status).toBe(204);
    }
    expect((await client.post('/rest/v1/dots/dotspair/', { one: '.', two: '..' })).status).toBe(201);
    expect((await client.get('/rest/v1/dots/dotspair/.,../')).status).toBe(200);
  });
});
