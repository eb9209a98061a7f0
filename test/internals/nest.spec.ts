// @tags nest
import * as nest from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Action, DeclarationError, Restify, RestifyController } from 'nestjs-restify';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { findUnknownMetadata, METADATA, probeController, replaceClass } from '../../src/internals/nest.js';
import { routedClass, routingProblems } from '../../src/nest/listed-controllers.js';
import type { ListedController } from '../../src/nest/listed-controllers.js';
import { linesOf, problemsOf, refusal } from '../boot/refused-start.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings } from '../support/start-app.js';

@Restify('routed')
@Entity('routed_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;
}

@RestifyController(Note)
class NoteController {
  @Action({ detail: false })
  recent(): object {
    return { recent: true };
  }
}

const SETTINGS: AppSettings = { entities: [Note], controllers: [NoteController] };

const restores: (() => void)[] = [];

afterEach(() => {
  for (const restore of restores.splice(0).reverse()) restore();
});

type Wrapper = Record<string, unknown>;

/** What the controllers of Nest's modules show: replaces the wrapper of the one in this file, until the test has ended. */
function replaceWrapper(replace: (wrapper: Wrapper) => Wrapper): void {
  const replaced = new Map<unknown, Wrapper>();
  const show = ([token, wrapper]: readonly [unknown, unknown]): readonly [unknown, unknown] => {
    if (token !== NoteController) return [token, wrapper];
    const shown = replaced.get(wrapper) ?? replace(wrapper as Wrapper);
    replaced.set(wrapper, shown);
    return [token, shown];
  };
  const values = function (this: ReadonlyMap<string, Module>): IterableIterator<object> {
    return [...this]
      .map(([, module]) => {
        const controllers = new Map([...module.controllers].map(show));
        return new Proxy(module, {
          get: (target, name): unknown => (name === 'controllers' ? controllers : Reflect.get(target, name)),
        });
      })
      .values();
  };
  Object.defineProperty(ModulesContainer.prototype, 'values', { value: values, configurable: true });
  restores.push(() => {
    Reflect.deleteProperty(ModulesContainer.prototype, 'values');
  });
}

interface Module {
  readonly controllers: ReadonlyMap<unknown, unknown>;
}

function refused(where: string, what: string): RegExp {
  return new RegExp(
    `^${where}: @nestjs/core \\d+\\.\\d+\\.\\d+ ${what} in another way than this package knows\\. Install the version of NestJS`,
  );
}

describe('the metadata of decorators', () => {
  test('of the installed NestJS has the known keys', () => {
    expect(findUnknownMetadata(nest)).toEqual([]);
  });

  test.each(Object.entries(METADATA))(
    'of %s under another key is refused at start, with the version of NestJS',
    async (name, key) => {
      const { getMetadata } = Reflect;
      Reflect.getMetadata = (asked: unknown, ...of: readonly [object]) => {
        const isSample = ['Sample', 'Enhancer', 'handle'].includes((of[0] as { readonly name: string }).name);
        return asked === key && isSample ? undefined : (getMetadata(asked, ...of) as unknown);
      };
      restores.push(() => {
        Reflect.getMetadata = getMetadata;
      });
      expect(await problemsOf(SETTINGS)).toEqual([
        expect.stringMatching(refused('NestJS', `keeps the metadata of decorators \\(${name}\\)`)),
      ]);
    },
  );
});

describe('the class of a controller', () => {
  test('is replaced in the installed NestJS, whose routes are those of the subclass', async () => {
    const started = await startApp(SETTINGS);
    try {
      const wrapper = [...started.app.get(ModulesContainer).values()]
        .flatMap(({ controllers }) => [...controllers])
        .find(([token]) => token === NoteController)?.[1];
      expect(wrapper && probeController(wrapper)).toBe(wrapper);
      expect(wrapper?.metatype).not.toBe(NoteController);
      expect((await started.client.get('/rest/v1/routed/note/recent/')).text).toBe('{"recent":true}');
    } finally {
      await started.close();
    }
  });

  test.each([
    ['in another place', 'A controller', (wrapper: Wrapper) => new Proxy(wrapper, { has: () => false })],
    ['that is not replaced', 'NoteController', (wrapper: Wrapper) => new Proxy(wrapper, { set: () => true })],
  ])('%s is refused at start, with the version of NestJS', async (_, where, replace) => {
    replaceWrapper(replace);
    expect(linesOf(await refusal(SETTINGS))).toEqual([
      expect.stringMatching(refused(where, 'keeps the classes of controllers')),
    ]);
  });
});

test('a controller whose class is another one once the routes are mapped is refused, with the version of NestJS', () => {
  const wrapper = { metatype: NoteController, instance: undefined, isDependencyTreeStatic: () => true };
  const listed = { listed: NoteController, wrapper } as unknown as ListedController;
  routedClass(listed);
  expect(routingProblems(listed)).toEqual([]);
  const refusals = [{ metatype: NoteController }, { instance: new NoteController() }].map((shown) =>
    routingProblems({ ...listed, wrapper: { ...wrapper, ...shown } }),
  );
  for (const problems of refusals)
    expect(linesOf(new DeclarationError(problems))).toEqual([
      expect.stringMatching(refused('NoteController', 'keeps the classes of controllers')),
    ]);
});

describe('the replacement of a class', () => {
  class Before {
    readonly kind = 'before';
  }
  class After extends Before {}
  const wrapperOf = (instance: unknown) => ({
    metatype: Before,
    instance,
    isDependencyTreeStatic: () => true,
  });

  test.each([
    ['before Nest has created an instance', undefined],
    ['with an instance', new Before()],
    ['with a prototype in the place of an instance', Object.create(Before.prototype) as object],
  ])('succeeds %s', (_, instance) => {
    const wrapper = wrapperOf(instance);
    expect(replaceClass(wrapper, After)).toBe(true);
    expect(wrapper.metatype).toBe(After);
    expect(instance === undefined || wrapper.instance instanceof After).toBe(true);
  });

  test('fails where the controller keeps its class', () => {
    expect(
      replaceClass(
        Object.defineProperty(wrapperOf(undefined), 'metatype', { set: () => undefined, get: () => Before }),
        After,
      ),
    ).toBe(false);
  });
});
