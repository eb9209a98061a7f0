import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Action, IsAdmin, Restify, RestifyController } from 'nestjs-restify';
import { Entity, PrimaryColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'tc', permissions: [] })
@Entity()
class TcThing {
  @PrimaryColumn() id: number;
}

@RestifyController(TcThing)
class AdminActions {
  @Action({ detail: true, path: 'wipe', methods: ['POST'], permissions: [IsAdmin] })
  run(): object {
    return { wiped: true };
  }
}

@RestifyController(TcThing)
class OpenActions {
  @Action({ detail: true, path: 'ping', methods: ['POST'] })
  run(): object {
    return { pong: true };
  }

  @Action({ detail: false, path: 'count' })
  count(): object {
    return { count: 1 };
  }
}

@Restify({ app: 'tc', permissions: [] })
@Entity()
class TcBase {
  @PrimaryColumn() id: number;
}

@RestifyController(TcBase)
class StrictActions {
  @Action({ detail: true, path: 'open', methods: ['POST'], permissions: [IsAdmin] })
  run(): object {
    return { strict: true };
  }
}

/** Extends, and declares the method again with a path of its own. */
@RestifyController(TcBase)
class LooseActions extends StrictActions {
  @Action({ detail: true, path: 'loose', methods: ['POST'] })
  override run(): object {
    return { loose: true };
  }
}

@Restify({ app: 'tc', permissions: [] })
@Entity()
class TcTwice {
  @PrimaryColumn() id: number;
}

@RestifyController(TcTwice)
class TwiceStrict {
  @Action({ detail: true, path: 'same', methods: ['POST'], permissions: [IsAdmin] })
  run(): object {
    return { strict: true };
  }
}

@RestifyController(TcTwice)
class TwiceLoose {
  @Action({ detail: true, path: 'same', methods: ['POST'] })
  run(): object {
    return { loose: true };
  }
}

describe('two controller classes that join one entity', () => {
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({ entities: [TcThing, TcBase], controllers: [AdminActions, OpenActions, StrictActions, LooseActions] });
    await started.dataSource.manager.save(TcThing, { id: 1 });
    await started.dataSource.manager.save(TcBase, { id: 1 });
  });
  afterAll(() => started.close());

  test('a method answers the path that it names, and no other of the same method name', async () => {
    expect((await started.client.post('/rest/v1/tc/tcthing/1/wipe/')).status).toBe(403);
    const ping = await started.client.post('/rest/v1/tc/tcthing/1/ping/');
    expect([ping.status, ping.json]).toEqual([200, { pong: true }]);
  });

  test('a subclass answers its own path, and never with the method that it replaces', async () => {
    expect((await started.client.post('/rest/v1/tc/tcbase/1/open/')).status).toBe(403);
    const loose = await started.client.post('/rest/v1/tc/tcbase/1/loose/');
    expect([loose.status, loose.json]).toEqual([200, { loose: true }]);
  });

  test('an action below the collection wins over a key, whichever class has it', async () => {
    const answer = await started.client.get('/rest/v1/tc/tcthing/count/');
    expect([answer.status, answer.json]).toEqual([200, { count: 1 }]);
  });

  test('one URL and method in two classes refuses to start, or is ruled by the permissions of the one that answers', async () => {
    let second: StartedApp | undefined;
    try {
      second = await startApp({ entities: [TcTwice], controllers: [TwiceStrict, TwiceLoose] });
      await second.dataSource.manager.save(TcTwice, { id: 1 });
      expect((await second.client.post('/rest/v1/tc/tctwice/1/same/')).text).not.toContain('strict');
    } catch (error) {
      expect((error as Error).message).toMatch(/same URL/);
    } finally {
      await second?.close();
    }
  });
});
