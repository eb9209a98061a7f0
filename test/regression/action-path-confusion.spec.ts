// @tags http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Param } from '@nestjs/common';
import {
  Action,
  allow,
  AllowAny,
  IsAdmin,
  MANY_TO_MANY_LIST_ACTION,
  NestedAction,
  ParentPk,
  Restify,
  RestifyController,
  where,
} from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class AnnsRows implements Permission {
  decide(): Grant {
    return allow({ rows: where('owner', 'ann') });
  }
}

@Restify({ app: 'rc', permissions: [] })
@Entity()
class RcTag {
  @PrimaryColumn() id: number;
}

@Restify({ app: 'rc', permissions: [] })
@Entity()
class RcPage {
  @PrimaryColumn() slug: string;
}

@Restify({
  app: 'rc',
  permissions: [AnnsRows],
  through: { labels: { permissions: [AllowAny] }, secrets: { permissions: [AllowAny] } },
})
@Entity()
class RcNote {
  @PrimaryColumn() id: number;
  @Column() owner: string;
  @ManyToMany(() => RcTag) @JoinTable() labels: Relation<RcTag[]>;
  @ManyToMany(() => RcTag) @JoinTable({ name: 'rc_note_secret' }) secrets: Relation<RcTag[]>;
}

@RestifyController(RcPage)
class PageActions {
  @Action({ detail: false, methods: ['POST'], permissions: [IsAdmin] })
  purge(): object {
    return { purged: 'everything' };
  }

  @Action({ detail: true, methods: ['POST'], permissions: [IsAdmin] })
  close(@Param('pk') slug: string): object {
    return { closed: slug };
  }
}

@Restify({ app: 'rc', permissions: [] })
@Entity()
class RcTwin {
  @PrimaryColumn() id: number;
}

/** Paths are case-sensitive (contract 1.3), so these are two. */
@RestifyController(RcTwin)
class TwinActions {
  @Action({ detail: true, path: 'run', methods: ['POST'], permissions: [IsAdmin] })
  strict(): object {
    return { strict: true };
  }

  @Action({ detail: true, path: 'Run', methods: ['POST'] })
  loose(): object {
    return { loose: true };
  }
}

@RestifyController(RcNote)
class NoteActions {
  @NestedAction(MANY_TO_MANY_LIST_ACTION, 'labels')
  labels(_request: object, pk: number): object {
    return { labelsOf: pk };
  }

  @NestedAction(MANY_TO_MANY_LIST_ACTION, 'secrets', { methods: ['GET', 'POST'], permissions: [IsAdmin] })
  secrets(@ParentPk() pk: number): object {
    return { secretsOf: pk };
  }
}

/**
 * Express finds the handler by `parseurl(request).pathname`; admission goes by the text of the request line. Where the
 * two read another route, an action runs under the permissions of a route that it does not belong to.
 */
describe('an action and its admission are of one route', () => {
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({ entities: [RcTag, RcPage, RcNote], controllers: [PageActions, NoteActions] });
    await started.dataSource.manager.save(RcNote, [
      { id: 1, owner: 'ann' },
      { id: 3, owner: 'bob' },
    ]);
    await started.dataSource.manager.save(RcPage, { slug: 'a' });
  });
  afterAll(() => started.close());

  test.each([
    ['POST', '/rest/v1/rc/rcpage/purge/', 403],
    ['POST', '/rest/v1/rc/rcpage/a/close/', 403],
    ['GET', '/rest/v1/rc/rcnote/1/labels/', 200],
    ['GET', '/rest/v1/rc/rcnote/3/labels/', 404],
    ['GET', '/rest/v1/rc/rcnote/1/secrets/', 403],
    ['POST', '/rest/v1/rc/rcnote/1/secrets/', 403],
  ])('plain: %s %s is %i', async (method, path, status) => {
    expect((await started.client.send(method, path)).status).toBe(status);
  });

  test.each([
    ['POST', '/rest/v1/rc/rcpage/purge#x'],
    ['POST', '/rest/v1/rc/rcpage/PURGE'],
    ['POST', '/rest/v1/rc/rcpage/Purge/'],
    ['POST', '/rest/v1/rc/rcpage/a\\close#'],
    ['POST', 'http://h/rest/v1/rc/rcpage/a\\close'],
    ['POST', 'http://h/rest/v1/rc/rcpage\\purge'],
    ['GET', '/rest/v1/rc/rcnote/1/secrets/#'],
    ['HEAD', '/rest/v1/rc/rcnote/1/secrets/#'],
    ['POST', '/rest/v1/rc/rcnote/1/secrets/#x/'],
    ['GET', '/rest/v1/rc/rcnote/1/secrets/\\#'],
    ['GET', '/rest/v1/rc/rcnote/3/secrets/#'],
  ])('an action for administrators only is refused: %s %s', async (method, path) => {
    const answer = await started.client.send(method, path);
    expect([400, 403, 404, 405]).toContain(answer.status);
    expect(answer.text).not.toMatch(/purged|closed|secretsOf/);
  });

  test('paths that differ by case refuse to start', async () => {
    await expect(startApp({ entities: [RcTwin], controllers: [TwinActions] })).rejects.toThrow(
      'TwinActions.loose: "strict" answers POST of the same URL. Name different methods, or give one of them another path.',
    );
  });

  test.each([
    '/rest/v1/rc/rcnote/3/labels/#',
    '/rest/v1/rc/rcnote/3/labels/#/',
    '/rest/v1/rc/rcnote/77/labels/#',
  ])('a parent that is hidden or missing stays 404: GET %s', async (path) => {
    const answer = await started.client.get(path);
    expect([answer.status, answer.json]).toEqual([404, { detail: 'Not found.' }]);
  });
});
