// @tags nest
import { describe, expect, test } from '@jest/globals';
import { Injectable, Scope } from '@nestjs/common';
import { Restify, RestifyModule } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import { problemsOf } from './refused-start.js';

@Restify('hooks')
@Entity('boot_hooked')
class Hooked {
  @PrimaryGeneratedColumn()
  id: number;
}

/** Provided by no module. */
class Missing {
  readonly none = true;
}

/** Plain JavaScript has no types that reject these. */
function problemsWith(hooks: unknown, providers: readonly (new (...given: never[]) => object)[] = []) {
  return problemsOf({
    entities: [Hooked],
    providers: providers as never,
    restify: { hooks } as RestifyModuleOptions,
  });
}

const AT = "RestifyModule.forRoot('rest/v1').hooks";

describe('hooks of forRoot', () => {
  test.each<readonly [string, unknown, string]>([
    ['no list', Missing, `${AT}: a function is not a list. Write a list of classes, such as [MyClass].`],
    [
      'null',
      null,
      `${AT}: null is not a valid value of an option. Leave the option out, or give it a value.`,
    ],
    [
      'an instance',
      [{ beforeWrite() {} }],
      `${AT}[0]: an object is not a class. Write a list of classes, such as [MyClass].`,
    ],
    [
      'a class that is not there yet',
      [undefined],
      `${AT}[0]: undefined is not a class. It is not there yet: look for files that import each other in a circle.`,
    ],
    [
      'a class without hooks',
      [
        class Empty {
          write(): void {}
        },
      ],
      `${AT}[0]: Empty has no hook. Give it a method beforeWrite(write) or afterWrite(write).`,
    ],
    [
      'a misspelt hook',
      [
        class Misspelt {
          beforeWrit(): void {}
        },
      ],
      `${AT}[0]: Misspelt.beforeWrit: it is not a hook, and is never called. Did you mean "beforeWrite"? Otherwise rename the method.`,
    ],
    [
      'a misspelt hook beside another one',
      [
        class Half {
          beforeWrite(): void {}
          afterWrites(): void {}
        },
      ],
      `${AT}[0]: Half.afterWrites: it is not a hook, and is never called. Did you mean "afterWrite"? Otherwise rename the method.`,
    ],
    [
      'a hook of one model',
      [
        class Scoped {
          beforeWrite(): void {}
          scope(): string {
            return 'all';
          }
        },
      ],
      `${AT}[0]: Scoped.scope is a hook of one model. Write it in a @RestifyController that extends ResourceController; for every model, use permissions of forRoot.`,
    ],
    [
      'an accessor',
      [
        class Accessor {
          get beforeWrite(): () => void {
            return () => undefined;
          }
          afterWrite(): void {}
        },
      ],
      `${AT}[0]: Accessor.beforeWrite is a property, and a hook is a method. Write beforeWrite(…) { … }.`,
    ],
  ])('are an error at start: %s', async (_, hooks, problem) => {
    expect(await problemsWith(hooks)).toEqual([problem]);
  });

  test('of a class that no module lists, and that has dependencies, are an error at start', async () => {
    @Injectable()
    class Unlisted {
      constructor(readonly missing: Missing) {}
      beforeWrite(): void {}
    }
    expect(await problemsWith([Unlisted])).toEqual([
      'Unlisted: no module lists it, and it has dependencies. Add Unlisted to the providers of the module that has them.',
    ]);
  });

  test('of a transient class, or of a request-scoped one that no module lists, are an error at start', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient {
      beforeWrite(): void {}
    }
    @Injectable({ scope: Scope.REQUEST })
    class Requested {
      beforeWrite(): void {}
    }
    expect(await problemsWith([Transient, Requested], [Transient])).toEqual([
      expect.stringMatching(/^Transient: it is created for each class that injects it/),
      expect.stringMatching(/^Requested: it is created for each request/),
    ]);
  });

  test('of a base class count, and options of a factory', async () => {
    class Base {
      beforeWrite(): void {
        throw new Error('stop');
      }
    }
    class Derived extends Base {}
    const started = await startApp({
      entities: [Hooked],
      restifyModules: [
        RestifyModule.forRootAsync({
          prefix: 'rest/v1',
          useFactory: () => ({ hooks: [Derived], unknownEntities: 'ignore' }),
        }),
      ],
    });
    expect((await started.client.post('/rest/v1/hooks/hooked/', {})).status).toBe(500);
    await started.close();
  });

  test('that an overriding provider lacks fail the write', async () => {
    class Audit {
      afterWrite(): void {}
    }
    const started = await startApp({
      entities: [Hooked],
      providers: [{ provide: Audit, useValue: {} }],
      restify: { hooks: [Audit] },
    });
    expect((await started.client.post('/rest/v1/hooks/hooked/', {})).status).toBe(500);
    expect(await started.dataSource.getRepository(Hooked).count()).toBe(0);
    await started.close();
  });
});
