// @tags nest
import { expect, test } from '@jest/globals';
import { Action, Restify, RestifyController } from 'nestjs-restify';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';

@Restify('twice')
@Entity()
class Drum {
  @PrimaryGeneratedColumn()
  id: number;
}

/** Has no controller of the application's. */
@Restify('twice')
@Entity()
class Flute {
  @PrimaryGeneratedColumn()
  id: number;
}

@RestifyController(Drum)
class DrumController {
  @Action({ detail: true })
  beat(): object {
    return { loud: true };
  }
}

test.each(['first', 'second', 'third'])(
  'the %s application of a process that lists a controller class serves its other models too',
  async () => {
    const started = await startApp({ entities: [Drum, Flute], controllers: [DrumController] });
    const { client } = started;
    try {
      for (const model of ['drum', 'flute']) {
        const path = `/rest/v1/twice/${model}/`;
        expect([
          path,
          (await client.post(path, {})).json,
          (await client.get(path)).json,
          (await client.get(`${path}1/`)).json,
        ]).toEqual([path, { id: 1 }, [{ id: 1 }], { id: 1 }]);
      }
      expect((await client.get('/rest/v1/twice/drum/1/beat/')).json).toEqual({ loud: true });
      expect((await client.get('/elsewhere')).status).toBe(404);
    } finally {
      await started.close();
    }
  },
);
