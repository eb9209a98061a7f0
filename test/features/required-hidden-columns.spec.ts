// @tags nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { documentOf } from '../openapi/document.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class Secret {
  @Column({ select: false, length: 20 }) code: string;
  @Column({ select: false, default: 'x' }) other: string;
}

@Restify({ app: 'rh', optional: ['filled'] })
@Entity('rh_user')
class User {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ select: false, length: 20 }) password: string;
  @Column({ select: false, nullable: true }) hint: string;
  @Column({ select: false, default: 'salt' }) salt: string;
  @Column({ select: false, default: '' }) filled: string;
  @Column(() => Secret) secret: Secret;
}

const PATH = '/rest/v1/rh/user/';
let started: StartedApp;
const warnings: string[] = [];
beforeAll(async () => {
  const ignore = (): void => undefined;
  const warn = (message: string): void => void warnings.push(message);
  started = await startApp({
    entities: [User],
    nest: { logger: { log: ignore, error: ignore, warn, debug: ignore, verbose: ignore, fatal: ignore } },
  });
});
afterAll(() => started.close());

test('a required column with select: false is writable only', async () => {
  const { client, dataSource } = started;
  expect(await client.post(PATH, { name: 'a' })).toMatchObject({
    status: 400,
    json: { password: ['This field is required.'], secret: ['This field is required.'] },
  });
  const body = {
    name: 'a',
    password: 'p',
    hint: 'h',
    salt: 's',
    filled: 'f',
    secret: { code: 'c', other: 'o' },
  };
  const made = await client.post(PATH, body);
  expect([made.status, made.json]).toEqual([201, { id: 1, name: 'a' }]);
  const stored = (): Promise<unknown> =>
    dataSource.query('SELECT password, hint, salt, filled, secretCode, secretOther FROM rh_user');
  expect(await stored()).toEqual([
    { password: 'p', hint: null, salt: 'salt', filled: '', secretCode: 'c', secretOther: 'x' },
  ]);
  expect((await client.patch(`${PATH}1/`, { password: 'q' })).json).toEqual({ id: 1, name: 'a' });
  expect(await stored()).toMatchObject([{ password: 'q', secretCode: 'c' }]);
  expect((await client.get(`${PATH}?password=other&ordering=password&search=q`)).json).toEqual([]);
  expect((await client.get(`${PATH}?password=other`)).json).toEqual([{ id: 1, name: 'a' }]);
  expect((await client.put(`${PATH}1/`, { name: 'b' })).json).toMatchObject({
    password: ['This field is required.'],
  });
  const { schemas = {} } = documentOf(started.app).components;
  expect(Object.keys((schemas.RhUser as { properties: object }).properties)).toEqual(['id', 'name']);
});

test('the start warns of it', () => {
  const told = (path: string, name: string): string =>
    `User.${path} is hidden by select: false, and required: bodies may write it, and no answer shows it. Name ${name} in writeOnly where this is intended, in optional where the application fills it, or in exclude.`;
  expect(warnings.filter((each) => each.includes('is hidden by'))).toEqual([
    told('password', 'password'),
    told('secret.code', 'secret'),
  ]);
});
