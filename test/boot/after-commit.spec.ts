// @tags nest
import { describe, expect, test } from '@jest/globals';
import { Injectable, Scope } from '@nestjs/common';
import { ResourceController, Restify, RestifyController } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { AppSettings } from '../support/start-app.js';
import { problemsOf } from './refused-start.js';

@Restify('told')
@Entity('boot_told')
class Told {
  @PrimaryGeneratedColumn()
  id: number;
}

/** Provided by no module. */
class Missing {
  readonly none = true;
}

/** Plain JavaScript has no types that reject these. */
function problemsWith(
  afterCommit: unknown,
  settings: Partial<AppSettings> = {},
): ReturnType<typeof problemsOf> {
  return problemsOf({
    entities: [Told],
    ...settings,
    restify: { afterCommit, ...settings.restify } as RestifyModuleOptions,
  });
}

const AT = "RestifyModule.forRoot('rest/v1').afterCommit";
const REPAIR = 'Name a class that implements AfterCommit.';

class Misspelt {
  afterCommits(): void {}
}

describe('afterCommit of forRoot', () => {
  test('that is no class is an error at start', async () => {
    expect(await problemsWith({ afterCommit() {} })).toEqual([
      expect.stringMatching(
        /^RestifyModule\.forRoot\('rest\/v1'\)\.afterCommit: an object is not a class\. /,
      ),
    ]);
    expect(await problemsWith([Misspelt])).toEqual([expect.stringContaining(`${AT}: `)]);
    expect(await problemsWith(null)).toEqual([expect.stringContaining(`${AT}: null`)]);
  });

  test('of a class, or of its provider, without the method is an error at start', async () => {
    const problem = `afterCommit: Misspelt: it has no method afterCommit. ${REPAIR}`;
    expect(await problemsWith(Misspelt)).toEqual([problem]);
    expect(await problemsWith(Misspelt, { providers: [Misspelt] })).toEqual([problem]);
    class Mailer {
      afterCommit(): void {}
    }
    expect(await problemsWith(Mailer, { providers: [{ provide: Mailer, useFactory: () => ({}) }] })).toEqual([
      `afterCommit: Mailer: it has no method afterCommit. ${REPAIR}`,
    ]);
  });

  test('of a class with several instances, or with dependencies and no provider, is an error at start', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Requested {
      afterCommit(): void {}
    }
    @Injectable()
    class Unlisted {
      constructor(readonly missing: Missing) {}
      afterCommit(): void {}
    }
    expect(await problemsWith(Requested, { providers: [Requested] })).toEqual([
      expect.stringMatching(/^Requested: it is created for each request/),
    ]);
    expect(await problemsWith(Unlisted)).toEqual([
      'Unlisted: no module lists it, and it has dependencies. Add Unlisted to the providers of the module that has them.',
    ]);
  });
});

describe('the method afterCommit', () => {
  test('of a class in hooks is an error at start: nothing would call it', async () => {
    class Both {
      beforeWrite(): void {}
      afterCommit(): void {}
    }
    expect(await problemsWith(undefined, { restify: { hooks: [Both] } })).toEqual([
      "RestifyModule.forRoot('rest/v1').hooks[0]: Both.afterCommit is not called by these hooks, which run before the COMMIT. Write it in another class, and name that in afterCommit of forRoot.",
    ]);
  });

  test('of a controller class that is a property is an error at start', async () => {
    @RestifyController(Told)
    class Property extends ResourceController<Told> {
      override readonly afterCommit = (): void => undefined;
    }
    expect(await problemsWith(undefined, { controllers: [Property] })).toEqual([
      'Property.afterCommit: it is a property, and what replaces or hooks into an operation is a method. Write afterCommit(…) { … }.',
    ]);
  });
});
