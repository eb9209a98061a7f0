// @tags db http nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, basic, deny, ModelPermissions, Restify, RestifyResources, where } from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Everybody reads, and only Ann reads deleted objects; Bob those of his own. */
class TrashRules implements Permission {
  readonly decidesOnDeleted = true;

  decide({ actor, operation }: AccessContext): Grant | Denial {
    const { name } = (actor ?? {}) as { readonly name?: string };
    if (operation === undefined || name === 'ann') return allow();
    return name === 'bob' ? allow({ rows: where('owner', 'bob') }) : deny();
  }
}

@Restify({
  app: 'bin',
  permissions: [TrashRules],
  trash: true,
  shape: true,
  expandable: ['folder'],
  conditional: true,
})
@Entity('bin_note')
class BinNote {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) title: string;
  @Column({ length: 20, default: 'ann' }) owner: string;
  @ManyToOne(() => BinFolder, (folder) => folder.notes, { nullable: true })
  folder: Relation<BinFolder> | null;
  @DeleteDateColumn() deletedAt: Date | null;
}

/** Does not show the date, and is loaded by TypeORM. */
@Restify({
  app: 'bin',
  permissions: [TrashRules],
  trash: true,
  exclude: ['gone'],
  computed: { shout: (folder: BinFolder) => folder.name.toUpperCase() },
  parameters: { deleted: 'bin' },
})
@Entity('bin_folder')
class BinFolder {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @OneToMany(() => BinNote, (note) => note.folder) notes: Relation<BinNote[]>;
  @VersionColumn() version: number;
  @DeleteDateColumn() gone: Date | null;
}

@Restify({ app: 'bin', permissions: [ModelPermissions], trash: true, strict: true })
@Entity('bin_secret')
class BinSecret {
  @PrimaryGeneratedColumn() id: number;
  @DeleteDateColumn() deletedAt: Date | null;
}

/** Has no trash. */
@Restify({ app: 'bin' })
@Entity('bin_plain')
class BinPlain {
  @PrimaryGeneratedColumn() id: number;
  @DeleteDateColumn() deletedAt: Date | null;
}

const NOTES = '/rest/v1/bin/binnote/';
const FOLDERS = '/rest/v1/bin/binfolder/';
const SECRETS = '/rest/v1/bin/binsecret/';
const DATE = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);

onEachDatabase('the trash of a model', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [BinNote, BinFolder, BinSecret, BinPlain],
      database,
      restify: {
        authentication: [
          basic((name) => ({ name, permissions: name.split('+').map((right) => `bin.${right}_binsecret`) })),
        ],
      },
    });
  });
  afterAll(() => started.close());

  let folder: BinFolder;
  let notes: readonly BinNote[];
  beforeEach(async () => {
    const { manager } = started.dataSource;
    for (const table of [BinNote, BinFolder, BinSecret, BinPlain])
      await manager.createQueryBuilder().delete().from(table).execute();
    folder = await manager.save(BinFolder, { name: 'f' });
    notes = await manager.save(BinNote, [
      { title: 'kept', folder },
      { title: 'gone', folder },
      { title: 'his', owner: 'bob', folder },
    ]);
    await manager.softDelete(BinNote, [notes[1]?.id, notes[2]?.id]);
  });

  const as = (name: string): { headers: { authorization: string } } => ({
    headers: { authorization: `Basic ${Buffer.from(`${name}:pw`).toString('base64')}` },
  });
  const titles = async (path: string, who = 'ann'): Promise<unknown> => {
    const { status, json } = await started.client.get(path, as(who));
    return status === 200 ? (json as { title: string }[]).map(({ title }) => title) : status;
  };

  test('is listed by the parameter, alone or with the other objects', async () => {
    expect(await titles(NOTES)).toEqual(['kept']);
    expect(await titles(`${NOTES}?deleted=`)).toEqual(['kept']);
    expect(await titles(`${NOTES}?deleted=only`)).toEqual(['gone', 'his']);
    expect(await titles(`${NOTES}?deleted=with`)).toEqual(['kept', 'gone', 'his']);
    expect(await titles(`${NOTES}?deleted=only&title=his`)).toEqual(['his']);
    expect(await titles(`${NOTES}?deleted=with&ordering=-title`)).toEqual(['kept', 'his', 'gone']);
    const { json } = await started.client.get(`${NOTES}?deleted=only&ordering=id`, as('ann'));
    expect(json).toEqual([
      { id: notes[1]?.id, title: 'gone', owner: 'ann', folder: folder.id, deletedAt: DATE },
      { id: notes[2]?.id, title: 'his', owner: 'bob', folder: folder.id, deletedAt: DATE },
    ]);
  });

  test('is listed below a parent, and expands as any list', async () => {
    const nested = `${FOLDERS}${folder.id}/notes/`;
    expect(await titles(`${nested}?deleted=only`)).toEqual(['gone', 'his']);
    expect(await titles(nested)).toEqual(['kept']);
    const { json } = await started.client.get(
      `${NOTES}${String(notes[1]?.id)}/?deleted=only&expand=folder&fields=title,folder`,
      as('ann'),
    );
    expect(json).toEqual({ title: 'gone', folder: expect.objectContaining({ id: folder.id, shout: 'F' }) });
  });

  test('has single objects', async () => {
    const { client } = started;
    const [kept, gone] = notes.map(({ id }) => `${NOTES}${id}/`);
    expect((await client.get(`${gone}`, as('ann'))).status).toBe(404);
    expect((await client.get(`${gone}?deleted=only`, as('ann'))).json).toMatchObject({
      title: 'gone',
      deletedAt: DATE,
    });
    expect((await client.get(`${gone}?deleted=with`, as('ann'))).json).toMatchObject({ title: 'gone' });
    expect((await client.get(`${kept}?deleted=with`, as('ann'))).json).toMatchObject({ deletedAt: null });
    expect((await client.get(`${kept}?deleted=only`, as('ann'))).status).toBe(404);
  });

  test('has the date of the deletion where the model does not show it, and entities that TypeORM loads', async () => {
    const { client, dataSource } = started;
    await dataSource.manager.softDelete(BinFolder, folder.id);
    const links = { notes: `${FOLDERS}${folder.id}/notes/` };
    const shown = { id: folder.id, name: 'f', version: expect.any(Number), ...links, shout: 'F' };
    expect((await client.get(`${FOLDERS}?bin=only`, as('ann'))).json).toEqual([{ ...shown, gone: DATE }]);
    expect((await client.get(`${FOLDERS}${folder.id}/?bin=only`, as('ann'))).json).toEqual({
      ...shown,
      gone: DATE,
    });
    expect((await client.get(`${FOLDERS}?deleted=only`, as('ann'))).json).toEqual([]);
    // Its children are reached by their own list alone.
    expect(await titles(`${FOLDERS}${folder.id}/notes/?deleted=only`)).toBe(404);
    expect(await titles(NOTES)).toEqual(['kept']);
  });

  test('needs a right of its own, which precedes every row and the rest of the query', async () => {
    const { client } = started;
    expect(await titles(`${NOTES}?deleted=only`, 'eve')).toBe(403);
    expect(await titles(`${NOTES}?deleted=with&title__nosuch=1`, 'eve')).toBe(403);
    expect(await titles(`${NOTES}?deleted=with&deleted=only`, 'bob')).toEqual(['his']);
    expect(await titles(`${NOTES}?deleted=with`, 'bob')).toEqual(['his']);
    expect((await client.get(`${NOTES}999999/?deleted=only`, as('eve'))).status).toBe(403);
    expect((await client.get(`${NOTES}${String(notes[1]?.id)}/?deleted=only`, as('bob'))).status).toBe(404);
    expect(await titles(NOTES, 'eve')).toEqual(['kept']);
  });

  test('needs the permission view_deleted, and with other objects view too', async () => {
    const { client, dataSource } = started;
    const { id } = await dataSource.manager.save(new BinSecret());
    await dataSource.manager.softDelete(BinSecret, id);
    const status = async (query: string, who: string): Promise<number> =>
      (await client.get(`${SECRETS}${query}`, as(who))).status;
    expect(await status('?deleted=only', 'view')).toBe(403);
    expect(await status('?deleted=only', 'view_deleted')).toBe(200);
    expect(await status('?deleted=with', 'view_deleted')).toBe(403);
    expect(await status('?deleted=with', 'view_deleted+view')).toBe(200);
    expect(await status('', 'view_deleted')).toBe(403);
    expect((await client.get(`${SECRETS}?deleted=only`)).status).toBe(401);
  });

  test('rejects other rows than these, after permissions and object', async () => {
    const { client } = started;
    const message = { deleted: ['"all" is not a valid choice.'] };
    expect(await client.get(`${NOTES}?deleted=all`, as('ann'))).toMatchObject({ status: 400, json: message });
    expect(await client.get(`${NOTES}${String(notes[0]?.id)}/?deleted=all`, as('ann'))).toMatchObject({
      status: 400,
      json: message,
    });
    expect((await client.get(`${NOTES}999999/?deleted=all`, as('ann'))).status).toBe(404);
    expect((await client.get('/rest/v1/bin/binplain/?deleted=all')).json).toEqual([]);
  });

  test('has entity tags of its own states', async () => {
    const { client } = started;
    const path = `${NOTES}${String(notes[1]?.id)}/?deleted=only`;
    const { headers } = await client.get(path, as('ann'));
    const again = { headers: { ...as('ann').headers, 'if-none-match': String(headers.etag) } };
    expect((await client.get(path, again)).status).toBe(304);
  });

  test('is described to those who may see it', async () => {
    const { client } = started;
    const options = async (who: string): Promise<unknown> =>
      ((await client.send('OPTIONS', NOTES, as(who))).json as { trash?: unknown }).trash;
    expect(await options('ann')).toEqual({
      parameter: 'deleted',
      date: 'deletedAt',
      restore: true,
      purge: true,
      deletion: { cascade: [], change: [], restrict: [] },
    });
    expect(await options('eve')).toBeUndefined();
  });

  test('is read by the code of the application, for an actor', async () => {
    const ann = started.app.get(RestifyResources).of(BinNote).as({ name: 'ann' });
    expect(await ann.list({ deleted: 'only', ordering: 'id' })).toMatchObject([
      { title: 'gone' },
      { title: 'his' },
    ]);
    const eve = started.app.get(RestifyResources).of(BinNote).as({ name: 'eve' });
    await expect(eve.list({ deleted: 'only' })).rejects.toMatchObject({ response: { status: 403 } });
  });
});
