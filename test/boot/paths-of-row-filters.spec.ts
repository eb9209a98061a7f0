// @tags nest
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  allow,
  AllowAny,
  anyOf,
  IsAuthenticatedOrReadOnly,
  ResourceController,
  RestifyController,
  restify,
  where,
} from 'nestjs-restify';
import type { AccessContext, ErrorListener, Grant, Permission, RowFilter } from 'nestjs-restify';
import { Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';
import { declareUnchecked, entityOf, problemsOf } from './refused-start.js';

class MisspeltForAll implements Permission {
  decide(): Grant {
    return allow({ rows: where('ownr', 1) });
  }
}

class MisspeltByActor implements Permission {
  decide({ actor }: AccessContext): Grant {
    return allow({ rows: where('ownr', actor === null ? 1 : 2) });
  }
}

let calls = 0;

class Counting implements Permission {
  decide(): Grant {
    calls += 1;
    return allow({ rows: where('ownr', 1) });
  }
}

let current = allow({ rows: where('ownr', 1) });

class Changing implements Permission {
  decide(): Grant {
    return current;
  }
}

class Computing implements Permission {
  decide(): Grant {
    return allow({ rows: where('ownr', Date.now()) });
  }
}

const BODY = { detail: 'A server error occurred.' };

function ownedBy(name: string, permissions: readonly unknown[]): new () => object {
  const made = entityOf(name, ['owner']);
  declareUnchecked(made, { app: 'paths', permissions });
  return made;
}

let started: StartedApp | undefined;
afterEach(async () => {
  await started?.app.close();
  started = undefined;
});

/** An application, and the lines of its log with what stands in the place of their stack. */
async function startLogged(settings: AppSettings): Promise<{ app: StartedApp; lines: string[] }> {
  const lines: string[] = [];
  const silent = (): void => undefined;
  const error = (what: unknown, place: unknown): void => {
    lines.push(`${what instanceof Error ? what.message : String(what)} | ${String(place)}`);
  };
  started = await startApp({
    ...settings,
    compare: false,
    undescribed: 'all',
    nest: { logger: { log: silent, warn: silent, error } },
  });
  return { app: started, lines };
}

describe('a wrong path in a permission that is the same for every caller', () => {
  test('is an error at start, for each model with the permission', async () => {
    const entities = [
      ownedBy('PathA', [MisspeltForAll]),
      ownedBy('PathB', [IsAuthenticatedOrReadOnly, MisspeltForAll]),
    ];
    expect(await problemsOf({ entities })).toEqual(
      ['PathA', 'PathB'].map(
        (model) =>
          `MisspeltForAll.decide: where("ownr", …): "ownr" is neither a column nor a relation of ${model}. Did you mean "owner"?`,
      ),
    );
  });

  test('is not reported where the value may change later', async () => {
    const { app } = await startLogged({
      entities: [ownedBy('PathG', [Changing]), ownedBy('PathH', [Computing])],
    });
    current = allow({ rows: where('owner', 1) });
    expect((await app.client.get('/rest/v1/paths/pathg/')).status).toBe(200);
    expect((await app.client.get('/rest/v1/paths/pathh/')).status).toBe(500);
  });

  test('is not reported where another permission replaces its rows', async () => {
    const { app } = await startLogged({ entities: [ownedBy('PathC', [anyOf(AllowAny, MisspeltForAll)])] });
    expect((await app.client.get('/rest/v1/paths/pathc/')).status).toBe(200);
  });
});

describe('a wrong path in another permission', () => {
  test('responds 500, and is reported once with class, path, model and repair', async () => {
    const reported: unknown[] = [];
    class Listener implements ErrorListener {
      onError(error: unknown): void {
        reported.push(error);
      }
    }
    const { app, lines } = await startLogged({
      entities: [ownedBy('PathD', [MisspeltByActor]), ownedBy('PathE', [MisspeltByActor])],
      restify: { onError: Listener },
    });
    const answers = [];
    for (const path of ['pathd/', 'pathd/1/', 'pathd/', 'pathe/'])
      answers.push(await app.client.get(`/rest/v1/paths/${path}`));
    expect(answers.map(({ status, json }) => [status, json])).toEqual(answers.map(() => [500, BODY]));
    expect(lines).toEqual([
      'MisspeltByActor: where("ownr", …): "ownr" is neither a column nor a relation of PathD. Did you mean "owner"? | GET /rest/v1/paths/pathd/ failed (paths.pathd, list)',
      'MisspeltByActor: where("ownr", …): "ownr" is neither a column nor a relation of PathE. Did you mean "owner"? | GET /rest/v1/paths/pathe/ failed (paths.pathe, list)',
    ]);
    expect(reported).toHaveLength(2);
  });

  test('is reported beside other permissions, too', async () => {
    const { app, lines } = await startLogged({
      entities: [ownedBy('PathF', [IsAuthenticatedOrReadOnly, anyOf(MisspeltByActor, MisspeltForAll)])],
    });
    const { status, json } = await app.client.get('/rest/v1/paths/pathf/');
    expect([status, json]).toEqual([500, BODY]);
    expect(lines).toEqual([expect.stringMatching(/^MisspeltByActor: where\("ownr", …\): "ownr" is neither/)]);
  });

  test('names the step that is wrong, and the model that it is in', async () => {
    const Owner = entityOf('PathOwner', ['name']);
    restify(Owner, 'paths');
    @Entity('boot_path_ticket')
    class Ticket {
      @PrimaryGeneratedColumn() id: number;
      @ManyToOne(() => Owner) owner: object;
    }
    class OfOwner implements Permission {
      decide({ method }: AccessContext): Grant {
        return allow({ rows: where('owner.nmae', method) });
      }
    }
    declareUnchecked(Ticket, { app: 'paths', permissions: [OfOwner] });
    const { app, lines } = await startLogged({ entities: [Owner, Ticket] });
    expect((await app.client.get('/rest/v1/paths/ticket/')).status).toBe(500);
    expect(lines).toEqual([
      expect.stringContaining(
        'OfOwner: where("owner.nmae", …): "nmae" is neither a column nor a relation of PathOwner. Did you mean "name"?',
      ),
    ]);
  });

  test('of a scope names the controller class', async () => {
    const Scoped = entityOf('PathScoped', ['owner']);
    restify(Scoped, 'paths');
    @RestifyController(Scoped)
    class ScopedController extends ResourceController {
      override scope(): RowFilter {
        return where('ownr', 1);
      }
    }
    const { app, lines } = await startLogged({ entities: [Scoped], controllers: [ScopedController] });
    expect((await app.client.get('/rest/v1/paths/pathscoped/')).status).toBe(500);
    expect(lines).toEqual([expect.stringMatching(/^ScopedController\.scope: where\("ownr", …\)/)]);
  });
});

test('a permission that may have effects is not called at start', async () => {
  const { app } = await startLogged({ entities: [ownedBy('PathG', [Counting])] });
  expect(calls).toBe(0);
  expect((await app.client.get('/rest/v1/paths/pathg/')).status).toBe(500);
  expect(calls).toBe(1);
});
