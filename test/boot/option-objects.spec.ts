// @tags nest
import { expect, test } from '@jest/globals';
import { IsAuthenticated, Restify, RestifyModule } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';

@Restify('opo')
@Entity('opo_thing')
class OpoThing {
  @PrimaryGeneratedColumn() id: number;
}

class WithGetters implements RestifyModuleOptions {
  get permissions(): NonNullable<RestifyModuleOptions['permissions']> {
    return [IsAuthenticated];
  }
  get strict(): boolean {
    return true;
  }
}

class Inheriting extends WithGetters {
  readonly returnDeleted = true;
}

const FORMS: readonly (readonly [string, () => RestifyModuleOptions & { readonly prefix?: string }])[] = [
  ['an object', () => ({ permissions: [IsAuthenticated], strict: true })],
  ['getters of a class', () => new WithGetters()],
  ['getters of a base class', () => new Inheriting()],
  [
    'a prototype',
    () => Object.create({ permissions: [IsAuthenticated], strict: true }) as RestifyModuleOptions,
  ],
];

/** The status of a list for anonymous callers. */
async function statusWith(module: ReturnType<typeof RestifyModule.forRoot>): Promise<number> {
  const started = await startApp({ entities: [OpoThing], restifyModules: [module] });
  try {
    return (await started.client.get('/rest/v1/opo/opothing/')).status;
  } finally {
    await started.close();
  }
}

test.each(FORMS)('options of forRoot as %s are applied', async (_name, options) => {
  expect(await statusWith(RestifyModule.forRoot('rest/v1', options()))).toBe(403);
});

test.each(FORMS)('options of forRootAsync as %s are applied', async (_name, options) => {
  expect(await statusWith(RestifyModule.forRootAsync({ prefix: 'rest/v1', useFactory: options }))).toBe(403);
});

test.each([
  ['own', () => ({ prefix: 'rest/v1', permissions: [IsAuthenticated] })],
  [
    'inherited',
    () => Object.create({ prefix: 'rest/v1', permissions: [IsAuthenticated] }) as RestifyModuleOptions,
  ],
])('the prefix of forRootAsync may be an %s property of the result', async (_name, useFactory) => {
  expect(await statusWith(RestifyModule.forRootAsync({ useFactory }))).toBe(403);
});
