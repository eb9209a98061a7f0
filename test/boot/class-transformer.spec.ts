// @tags nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import { AllowAny, Restify } from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { problemsOf } from './refused-start.js';

class CtPlace {
  @Exclude() @Column({ length: 20 }) code: string;
  @Transform(({ value }: { value: string }) => value.trim())
  @Column({ length: 20, default: '' })
  city: string;
}

@Restify({ app: 'ct', exclude: ['left'], writeOnly: ['sent'], optional: ['filled'] })
@Entity('ct_odd')
class CtOdd {
  @PrimaryGeneratedColumn() id: number;
  @Exclude() @Column({ length: 20 }) password: string;
  @Exclude() @Column({ length: 20 }) sent: string;
  @Exclude() @Column({ length: 20, nullable: true }) filled: string;
  @Transform(({ value }: { value: string }) => value.length)
  @Column({ length: 20, default: '' })
  left: string;
  @Expose({ groups: ['staff'] }) @Column({ length: 20, default: 'salary' }) salary: string;
  @Expose({ name: 'fullName' }) @Column({ length: 20, default: '' }) name: string;
  @Expose({ since: 2 }) @Column({ length: 20, default: '' }) recent: string;
  @Transform(() => '***') @Column({ length: 20, default: '' }) masked: string;
  @Transform(({ value }: { value: string }) => value.trim(), { toClassOnly: true })
  @Column({ length: 20, default: '' })
  trimmed: string;
  @Transform(() => undefined, { toPlainOnly: true })
  @Column({ length: 20, default: 'un-shown' })
  unshown: string;
  @Transform(() => undefined, { toClassOnly: true })
  @Column({ length: 20, default: 'own' })
  untaken: string;
  @Transform(({ value }: { value: unknown }) => value ?? undefined)
  @Column('varchar', { length: 20, nullable: true })
  unset: string | null;
  @Transform(({ value }: { value: { a: { b: string } } }) => value.a.b)
  @Column('simple-json', { default: '{}' })
  deep: object;
  /** The type of another one looks at it. */
  @Exclude() @Column({ length: 20, default: 'looked-at' }) kind: string;
  @Type((options) => (String(options?.object.kind) === 'x' ? CtPlace : Object))
  @Column('simple-json', { default: '{}' })
  details: object;
  /** Of these nothing is said. */
  @Type(() => Date) @Column() made: Date;
  @Type(() => Number) @Column('int', { default: 1 }) votes: number;
  @Type(() => CtPlace) @Column(() => CtPlace) place: CtPlace;
  @Expose() @Column({ default: false }) done: boolean;
  @Exclude() @Column('int', { default: 1 }) ownerId: number;
  @ManyToOne(() => CtOwner) @JoinColumn({ name: 'ownerId' }) owner: Relation<CtOwner>;
  /** What it would be called with is not an entity. */
  @Expose()
  get initial(): string {
    return this.name.charAt(0).toUpperCase();
  }
}

@Restify('ct')
@Entity('ct_owner')
class CtOwner {
  @PrimaryGeneratedColumn() id: number;
  @Exclude({ toClassOnly: true }) @Column({ length: 20, default: 'guest' }) role: string;
}

/** No value has the type that the discriminator looks for. */
@Restify('ct')
@Exclude()
@Entity('ct_kind')
class CtKind {
  @Expose() @PrimaryGeneratedColumn() id: number;
  @Expose()
  @Type(() => CtPlace, {
    discriminator: { property: 'kind', subTypes: [{ value: CtPlace, name: 'place' }] },
  })
  @Column('simple-json', { nullable: true })
  place: CtPlace | null;
  @Expose() @Column({ length: 20, default: 'shown' }) shown: string;
  @Column({ length: 20, default: 'hidden' }) hidden: string;
}

let started: StartedApp;
const warnings: string[] = [];

beforeAll(async () => {
  const logger = {
    log: () => undefined,
    warn: (text: string) => warnings.push(text),
    error: () => undefined,
  };
  started = await startApp({
    entities: [CtOdd, CtOwner, CtKind],
    restify: { permissions: [AllowAny] },
    nest: { logger },
  });
  // The hidden default of a foreign key leads to it.
  const owner = await started.client.post('/rest/v1/ct/ctowner/', { role: 'admin' });
  expect(owner.json).toEqual({ id: 1, role: 'guest' });
});
afterAll(() => started.close());

test('decorators of class-transformer that have no effect are a warning that names the property', () => {
  const changed = 'is given another value by class-transformer (@Transform, @Type), and here is not.';
  expect(warnings.filter((text) => text.startsWith('Ct')).sort()).toEqual(
    [
      'CtOdd.deep makes class-transformer throw, and is not shown.',
      'CtOdd.deep makes class-transformer throw, and is not taken.',
      'CtOdd.unshown is made undefined by class-transformer (@Transform), and is not shown.',
      'CtOdd.untaken is made undefined by class-transformer (@Transform), and is not taken.',
      'CtOdd.name is renamed "fullName" by class-transformer, and here is not.',
      'CtOdd.recent is shown in some versions only, and here in each.',
      'CtOdd.recent is taken in some versions only, and here in each.',
      'CtOdd.salary is shown in groups only, and here in none.',
      'CtOdd.salary is taken in groups only, and here in none.',
      `CtOdd.masked ${changed}`,
      `CtOdd.trimmed ${changed}`,
      `CtOdd.place.city ${changed}`,
      ...['password', 'place.code'].map(
        (name) =>
          `CtOdd.${name} is hidden by @Exclude() of class-transformer, and required: bodies may write it, and no answer shows it.` +
          ` Name ${name.split('.')[0] ?? ''} in writeOnly where this is intended, in optional where the application fills it, or in exclude.`,
      ),
    ].sort(),
  );
});

test('what only groups show, and what is made undefined, is hidden, and what is masked is shown as it is', async () => {
  const body = { password: 'p', sent: 's', made: '2022-10-02T09:23:28Z', place: { code: 'c' }, salary: '9' };
  const made = await started.client.post('/rest/v1/ct/ctodd/', { ...body, masked: 'm', untaken: 'theirs' });
  expect(made).toMatchObject({ status: 201 });
  expect(made.json).toMatchObject({ untaken: 'own', unset: null });
  for (const name of ['salary', 'kind', 'deep', 'password', 'sent', 'filled', 'unshown'])
    expect(made.json).not.toHaveProperty(name);
  expect(made.json).toMatchObject({ name: '', masked: 'm', recent: '', place: { city: '' } });
});

test('types that depend on values do not prevent the check', async () => {
  const kind = await started.client.post('/rest/v1/ct/ctkind/', { shown: 'x', hidden: 'y' });
  expect(kind.json).toEqual({ id: 1, place: null, shown: 'x' });
});

test('a query over what is excluded refuses to start', async () => {
  @Restify({ app: 'ct', filterFields: ['secret'] })
  @Entity('ct_query')
  class CtQuery {
    @PrimaryGeneratedColumn() id: number;
    @Exclude() @Column({ length: 20, nullable: true }) secret: string;
  }
  expect(await problemsOf({ entities: [CtQuery] })).toEqual([
    expect.stringContaining('"secret" is not a readable field of CtQuery.'),
  ]);
});

test('a key that is excluded and shown by URLs is a warning, unless the options name it', async () => {
  @Restify('ct')
  @Entity('ct_keyed')
  class CtKeyed {
    @Exclude() @PrimaryGeneratedColumn() id: number;
    @Column({ length: 20 }) name: string;
  }
  @Restify({ app: 'ct', exclude: ['id'] })
  @Entity('ct_meant')
  class CtMeant {
    @Exclude() @PrimaryGeneratedColumn() id: number;
    @Column({ length: 20 }) name: string;
  }
  const told: string[] = [];
  const logger = { log: () => undefined, warn: (text: string) => told.push(text), error: () => undefined };
  const keyed = await startApp({
    entities: [CtKeyed, CtMeant],
    restify: { permissions: [AllowAny] },
    nest: { logger },
  });
  const made = await keyed.client.post('/rest/v1/ct/ctkeyed/', { name: 'ann' });
  await keyed.close();
  expect(made).toMatchObject({ status: 201, json: { name: 'ann' } });
  expect(made.headers.location).toMatch(/\/ctkeyed\/1\/$/);
  expect(told.filter((text) => text.startsWith('Ct'))).toEqual([
    'CtKeyed.id is hidden by @Exclude() of class-transformer, and part of the key: URLs, links and fields of relations show it.' +
      ' Name id in exclude where this is intended, or make a column that may be seen the key.',
  ]);
});
