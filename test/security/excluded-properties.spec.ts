// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Exclude, Expose } from 'class-transformer';
import { CsvRenderer, Restify, RestifyOpenApi } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { noFilter } from '../support/no-filter.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class ExAddress {
  @Column({ length: 20, default: '' }) city: string;
  @Exclude()
  @Column('varchar', { length: 20, nullable: true })
  alarm: string | null;
  @Exclude({ toClassOnly: true })
  @Column('varchar', { length: 20, nullable: true })
  zone: string | null;
}

abstract class ExBase {
  @PrimaryGeneratedColumn() id: number;
  @Exclude()
  @Column('varchar', { length: 40, nullable: true })
  trace: string | null;
}

@Restify({
  app: 'ex',
  bulk: { upsert: ['name'] },
  conditional: true,
  shape: true,
  filterGroups: true,
  renderers: [new CsvRenderer()],
  expandable: ['team', 'roles'],
})
@Entity('ex_user')
class ExUser extends ExBase {
  @Column({ length: 20, unique: true }) name: string;
  @Exclude() @Column({ length: 60 }) password: string;
  @Exclude({ toPlainOnly: true }) @Column('varchar', { length: 60, nullable: true }) token: string | null;
  @Exclude({ toClassOnly: true }) @Column({ default: false }) admin: boolean;
  /** The application fills it. */
  @Exclude() @Column('varchar', { length: 10, unique: true, nullable: true }) badge: string | null;
  @Exclude() @VersionColumn() version: number;
  @Exclude() @UpdateDateColumn() changed: Date;
  @Column(() => ExAddress) address: ExAddress;
  @Exclude() @Column(() => ExAddress, { prefix: 'old' }) before: ExAddress;
  @ManyToOne(() => ExTeam, (team) => team.users, { nullable: true }) team: Relation<ExTeam> | null;
  @Exclude() @ManyToOne(() => ExTeam, { nullable: true }) shadow: Relation<ExTeam> | null;
  @Exclude() @OneToMany(() => ExNote, (note) => note.user) notes: Relation<ExNote[]>;
  @ManyToMany(() => ExRole, (role) => role.users)
  @JoinTable({ name: 'ex_grant', synchronize: false })
  roles: Relation<ExRole[]>;
}

@Restify({ app: 'ex', expandable: ['users'] })
@Entity('ex_team')
class ExTeam extends ExBase {
  @Column({ length: 20 }) title: string;
  @OneToMany(() => ExUser, (user) => user.team) users: Relation<ExUser[]>;
}

@Restify({ app: 'ex' })
@Entity('ex_note')
class ExNote extends ExBase {
  @Exclude() @ManyToOne(() => ExUser, (user) => user.notes, { nullable: false }) user: Relation<ExUser>;
}

@Restify({ app: 'ex' })
@Entity('ex_role')
class ExRole extends ExBase {
  @Column({ length: 20 }) title: string;
  @ManyToMany(() => ExUser, (user) => user.roles) users: Relation<ExUser[]>;
}

/** Nobody registers it. */
@Entity('ex_grant')
class ExGrant {
  @PrimaryGeneratedColumn() id: number;
  @Column('int') exUserId: number;
  @Column('int') exRoleId: number;
  @Exclude() @Column('varchar', { length: 20, nullable: true }) reason: string | null;
}

/** A whitelist, with getters that no probe can run. */
@Restify({ app: 'ex', strict: true })
@Exclude()
@Entity('ex_card')
class ExCard {
  @Expose() @PrimaryGeneratedColumn() id: number;
  @Expose() @Column({ length: 20 }) holder: string;
  @Column({ length: 20, default: 'secret-pin' }) pin: string;
  @Expose({ toPlainOnly: true }) @Column({ length: 20, default: 'x' }) state: string;
  @Expose()
  get initials(): string {
    return this.holder.split(' ')[0]?.charAt(0).toUpperCase() ?? '';
  }
}

/** What the options name wins. */
@Restify({
  app: 'ex',
  fields: ['id', 'open', 'sent', 'kept', 'plain'],
  writeOnly: ['sent'],
  readOnly: ['kept'],
})
@Entity('ex_named')
class ExNamed {
  @PrimaryGeneratedColumn() id: number;
  @Exclude() @Column({ length: 20, default: 'a' }) open: string;
  @Exclude() @Column('varchar', { length: 20, nullable: true }) sent: string | null;
  @Exclude() @Column({ length: 20, default: 'b' }) kept: string;
  @Column({ length: 20, default: 'c' }) plain: string;
}

@Restify({ app: 'ex', writeOnly: ['hash'], readOnly: ['quiet'], optional: ['filled'] })
@Entity('ex_told')
class ExTold {
  @PrimaryGeneratedColumn() id: number;
  @Exclude() @Column('varchar', { length: 20, nullable: true }) hash: string | null;
  @Exclude() @Column({ length: 20, default: 'q' }) quiet: string;
  @Exclude() @Column('varchar', { length: 20, nullable: true }) filled: string | null;
}

const SECRETS = ['s3cret', 't0ken', 'tr4ce', 'b4dge', 'al4rm', 'b3fore', 'r3ason', 'secret-pin'];
const ENTITIES = [ExUser, ExTeam, ExNote, ExRole, ExGrant, ExCard, ExNamed, ExTold];

onEachDatabase('properties that class-transformer excludes', (database) => {
  let started: StartedApp;
  const answers: Answer[] = [];
  const get = async (path: string): Promise<Answer> => {
    const answer = await started.client.get(`/rest/v1/ex/${path}`);
    answers.push(answer);
    return answer;
  };
  const post = async (path: string, body: unknown): Promise<Answer> => {
    const answer = await started.client.post(`/rest/v1/ex/${path}`, body);
    answers.push(answer);
    return answer;
  };

  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, database });
    await post('exteam/', { title: 'red' });
    await post('exrole/', { title: 'clerk' });
    const ann = { name: 'ann', password: 's3cret', token: 't0ken', admin: true, team: 1 };
    expect(await post('exuser/', { ...ann, trace: 'tr4ce', badge: 'b4dge' })).toMatchObject({ status: 201 });
    const { manager } = started.dataSource;
    expect(await manager.findOneByOrFail(ExUser, { name: 'ann' })).toMatchObject({
      password: 's3cret',
      token: null,
      trace: null,
      badge: null,
      admin: false,
    });
    await manager.update(ExUser, 1, {
      token: 't0ken',
      trace: 'tr4ce',
      badge: 'b4dge',
      address: { city: 'Ulm', alarm: 'al4rm', zone: 'north' },
      before: { city: 'b3fore' },
    });
    await manager.update(ExTeam, 1, { trace: 'tr4ce' });
    await manager.insert(ExGrant, { exUserId: 1, exRoleId: 1, reason: 'r3ason' });
    await manager.insert(ExNote, { trace: 'tr4ce', user: { id: 1 } });
  });
  afterAll(async () => {
    // Of all answers of this file.
    await started.close();
    for (const { text } of answers) for (const secret of SECRETS) expect(text).not.toContain(secret);
  });

  test('are in no answer: objects, lists, nested ones, expansions, chosen fields and CSV', async () => {
    const shown = { id: 1, name: 'ann', admin: false, address: { city: 'Ulm', zone: 'north' }, team: 1 };
    expect((await get('exuser/1/')).json).toEqual({ ...shown, roles: '/rest/v1/ex/exuser/1/roles/' });
    expect((await get('exuser/')).json).toEqual([{ ...shown, roles: '/rest/v1/ex/exuser/1/roles/' }]);
    expect((await get('exteam/1/users/')).json).toMatchObject([shown]);
    expect((await get('exteam/?expand=users')).json).toBeDefined();
    expect((await get('exuser/1/?expand=team')).json).toMatchObject({ team: { id: 1, title: 'red' } });
    expect((await get('exuser/1/?fields=name,password')).json).toEqual({ name: 'ann' });
    expect((await get('exuser/?format=csv')).text).toMatch(/^id,name,admin,address,team,roles\r?\n/);
    expect((await get('exuser/1/roles/')).json).toEqual([{ id: 1, exUserId: 1, exRoleId: 1 }]);
    expect((await get('exnote/')).json).toEqual([{ id: 1 }]);
  });

  test('have no nested URL, where they are relations', async () => {
    expect((await get('exuser/1/notes/')).status).toBe(404);
    expect((await get('exuser/1/shadow/')).status).toBe(404);
  });

  test.each([
    'password=s3cret',
    'token=t0ken',
    'trace=tr4ce',
    'badge=nothing',
    'before__city=nothing',
    'shadow=9',
    'version=99',
    'ordering=-password',
  ])('are answered as a name that does not exist: ?%s', async (query) => {
    expect((await get(`exuser/?${query}`)).json).toHaveLength(1);
  });

  test.each(['address__alarm', 'address__nothing', 'team__trace', 'team__nothing'])(
    'are no filter of what is shown: ?%s',
    async (name) => {
      const { status, json, text } = await get(`exuser/?${name}=1`);
      expect([status, json]).toEqual([400, noFilter(name)]);
      expect(text.replace(name, '')).not.toMatch(/alarm|trace/);
    },
  );

  test('are in no search, no group of filters and no order', async () => {
    for (const secret of SECRETS) expect((await get(`exuser/?search=${secret}`)).json).toEqual([]);
    expect((await get('exuser/?filter=or(name=x,password=y)')).json).toEqual({
      filter: ['Position 11: "password" is no filter.'],
    });
    expect((await get('exuser/?filter=or(name=x,unknown=y)')).json).toEqual({
      filter: ['Position 11: "unknown" is no filter.'],
    });
  });

  test('are in no header: neither a hidden version nor a hidden date', async () => {
    const { manager } = started.dataSource;
    await manager.update(ExUser, 1, { changed: new Date('2020-01-01') });
    const { headers } = await get('exuser/1/');
    expect(headers['last-modified']).toBeUndefined();
    await manager.update(ExUser, 1, { token: 't0ken2' });
    expect((await get('exuser/1/')).headers.etag).toBe(headers.etag);
  });

  test('are in no OPTIONS but for what bodies may write', async () => {
    const { actions } = (await started.client.send('OPTIONS', '/rest/v1/ex/exuser/')).json as {
      actions: { POST: Record<string, { required: boolean; read_only: boolean; children?: object }> };
    };
    expect(Object.keys(actions.POST)).toEqual([
      ...['id', 'name', 'password', 'admin', 'address', 'team', 'roles'],
    ]);
    expect(actions.POST.password).toMatchObject({ required: true, read_only: false });
    expect(actions.POST.admin).toMatchObject({ required: false, read_only: true });
    expect(Object.keys(actions.POST.address?.children ?? {})).toEqual(['city', 'zone']);
    expect(actions.POST.address?.children).toMatchObject({ zone: { read_only: true } });
  });

  test('are in no schema of OpenAPI but for what bodies may write', () => {
    const document = started.app
      .get(RestifyOpenApi)
      .extend({ openapi: '3.1.0', info: { title: '', version: '' }, paths: {} });
    const text = JSON.stringify(document);
    for (const name of ['trace', 'badge', 'token', 'alarm', 'before', 'shadow', 'reason', 'notes', 'pin'])
      expect(text).not.toContain(`"${name}"`);
    expect(text).toContain('"password"');
  });

  test('are not written, in no way in, unless no row can be made without them', async () => {
    const given = { token: 't', trace: 't', badge: 't', admin: true, shadow: 1, before: { city: 't' } };
    const inner = { address: { city: 'Rom', alarm: 't', zone: 't' } };
    const { manager } = started.dataSource;
    expect((await post('exuser/', { name: 'bob', ...given })).json).toEqual({
      password: ['This field is required.'],
    });
    const bulk = await post('exuser/', [{ name: 'bob', password: 's3cret', ...given, ...inner }]);
    expect(bulk).toMatchObject({
      status: 201,
      json: [{ name: 'bob', address: { city: 'Rom', zone: null } }],
    });
    const upsert = await post('exuser/?upsert=true', {
      name: 'bob',
      password: 's3cret2',
      ...given,
      ...inner,
    });
    expect(upsert).toMatchObject({ status: 200 });
    const patched = await started.client.patch('/rest/v1/ex/exuser/2/', {
      ...given,
      ...inner,
      password: 's3cret3',
    });
    expect(patched.status).toBe(200);
    expect(patched.text).not.toContain('s3cret3');
    const role = await post('exuser/2/roles/', { exRoleId: 1, reason: 'r3ason' });
    expect(role).toMatchObject({ status: 201 });
    expect(await manager.findOneByOrFail(ExGrant, { exUserId: 2 })).toMatchObject({ reason: null });
    expect(
      await manager.findOneOrFail(ExUser, { where: { id: 2 }, relations: { shadow: true } }),
    ).toMatchObject({
      password: 's3cret3',
      token: null,
      trace: null,
      badge: null,
      admin: false,
      shadow: null,
      address: { city: 'Rom', alarm: null, zone: null },
      before: { city: '' },
    });
    expect((await post('exnote/', {})).json).toEqual({ user: ['This field is required.'] });
    expect((await post('exnote/', { user: 2 })).json).toEqual({ id: expect.any(Number) });
  });

  test('of a class that names what it shows are all others', async () => {
    expect(await post('excard/', { holder: 'Ann Lee', pin: '1' })).toMatchObject({
      status: 400,
      json: { pin: ['Unknown field.'] },
    });
    expect((await post('excard/', { holder: 'Ann Lee', state: 'y' })).json).toEqual({
      id: 1,
      holder: 'Ann Lee',
      state: 'x',
    });
    expect((await get('excard/?pin=1')).status).toBe(400);
  });

  test('are those of the options, if these name them', async () => {
    const named = await post('exnamed/', { open: 'o', sent: 's', kept: 'k', plain: 'p' });
    expect(named.json).toEqual({ id: 1, open: 'o', kept: 'b', plain: 'p' });
    const { manager } = started.dataSource;
    expect(await manager.findOneByOrFail(ExNamed, { id: 1 })).toMatchObject({ sent: 's' });
    expect((await post('extold/', { hash: 'h', quiet: 'x', filled: 'x' })).json).toEqual({ id: 1 });
    expect(await manager.findOneByOrFail(ExTold, { id: 1 })).toMatchObject({
      hash: 'h',
      quiet: 'q',
      filled: null,
    });
  });
});
