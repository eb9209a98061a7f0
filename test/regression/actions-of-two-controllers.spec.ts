// @tags nest
import { describe, expect, test } from '@jest/globals';
import { Action, IsAdmin, Restify, RestifyController } from 'nestjs-restify';
import { Entity, PrimaryColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';

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
  const refusal = (one: string, other: string): string =>
    `${one}: ${other} joins the endpoints of the same entity. Write all actions of an entity in one @RestifyController; a class that it extends needs none.`;

  test.each([
    ['with methods of one name', [TcThing], [AdminActions, OpenActions], 'AdminActions', 'OpenActions'],
    [
      'of which one extends the other',
      [TcBase],
      [StrictActions, LooseActions],
      'StrictActions',
      'LooseActions',
    ],
    ['with one URL and method', [TcTwice], [TwiceStrict, TwiceLoose], 'TwiceStrict', 'TwiceLoose'],
  ])(
    '%s are an error at start, because their permissions would be ambiguous',
    async (_how, entities, controllers, one, other) => {
      const started = startApp({ entities, controllers });
      await expect(started).rejects.toThrow(refusal(one, other));
      await expect(started).rejects.toThrow(refusal(other, one));
    },
  );
});
