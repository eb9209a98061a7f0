// @tags db http
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ResourceController, Restify, RestifyController } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const ROWS = 1100;

/** A key of two columns, and as many rows as no database takes in one chain of alternatives. */
@Restify({
  app: 'le',
  shape: { maxObjects: 10_000, fieldsParameter: 'only' },
  expandable: ['seats.row', 'hall'],
})
@Entity('le_row')
class SeatRow {
  @PrimaryColumn() block: number;
  @PrimaryColumn() line: number;
  @Column({ type: 'varchar', length: 2000, default: '' }) wide: string;
  @ManyToOne(() => Hall, { nullable: true }) hall: Relation<Hall> | null;
  @OneToMany(() => Seat, (seat) => seat.row) seats: Relation<Seat[]>;
}

@Restify('le')
@Entity('le_hall')
class Hall {
  @PrimaryColumn() id: number;
}

@Restify({ app: 'le', expandable: ['row'], shape: { maxObjects: 2 * ROWS - 1 } })
@Entity('le_seat')
class Seat {
  @PrimaryColumn() id: number;
  @ManyToOne(() => SeatRow, (row) => row.seats) row: Relation<SeatRow>;
}

/** What stands behind `super` is shaped already. */
@RestifyController(Hall)
class HallController extends ResourceController<Hall> {
  override async list(request: object): Promise<unknown> {
    return { halls: (await super.list(request)) as unknown };
  }
}

@RestifyController(SeatRow)
class RowController extends ResourceController<SeatRow> {
  override async retrieve(request: object): Promise<unknown> {
    return { row: (await super.retrieve(request)) as unknown };
  }
}

onEachDatabase('expansion of long lists', (database) => {
  const log = new StatementLog();
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({
      entities: [SeatRow, Seat, Hall],
      controllers: [HallController, RowController],
      database,
      dataSource: { logging: true, logger: log },
    });
    await started.dataSource.getRepository(Hall).insert([{ id: 1 }, { id: 2 }]);
    const rows = Array.from({ length: ROWS }, (_, at) => ({ block: at % 7, line: at, hall: { id: 1 } }));
    const insert = async (type: new () => object, values: readonly object[]): Promise<void> => {
      for (let at = 0; at < values.length; at += 200)
        await started.dataSource
          .createQueryBuilder()
          .insert()
          .into(type)
          .values(values.slice(at, at + 200))
          .updateEntity(false)
          .execute();
    };
    await insert(SeatRow, rows);
    await insert(
      Seat,
      rows.map(({ block, line }) => ({ id: line, row: { block, line } })),
    );
  });
  beforeEach(() => {
    log.clear();
  });
  afterAll(() => started.close());

  test('each object stands where it belongs, by one statement a relation for each page of rows', async () => {
    const { json } = await started.client.get(
      '/rest/v1/le/seatrow/?expand=hall,seats&only=block,line,hall,seats.id',
    );
    const rows = json as { block: number; line: number; hall: unknown; seats: unknown }[];
    expect(rows).toHaveLength(ROWS);
    expect(
      rows.filter(
        ({ block, line, hall, seats }) =>
          JSON.stringify([block, hall, seats]) !== JSON.stringify([line % 7, { id: 1 }, [{ id: line }]]),
      ),
    ).toEqual([]);
    // Two pages of rows.
    expect(
      log.statements.filter((each) => each.startsWith('SELECT') || each.startsWith('WITH')),
    ).toHaveLength(2 * 3);
  });

  test('too many objects are refused, also where later pages come to hold them', async () => {
    expect((await started.client.get('/rest/v1/le/seat/?expand=row')).status).toBe(400);
    expect((await started.client.get('/rest/v1/le/seat/?expand=row&id=5')).text).toBe(
      '[{"id":5,"row":{"block":5,"line":5,"wide":"","hall":1,"seats":"/rest/v1/le/seatrow/5,5/seats/"}}]',
    );
  });

  describe('beside methods of the application', () => {
    test('super returns the expanded objects, and HEAD has their headers', async () => {
      expect(
        (await started.client.get('/rest/v1/le/seatrow/3,3/?expand=seats.row&only=seats.id,seats.row.line'))
          .text,
      ).toBe('{"row":{"seats":[{"id":3,"row":{"line":3}}]}}');
      const head = await started.client.send('HEAD', '/rest/v1/le/seat/7/?expand=row');
      const whole = await started.client.get('/rest/v1/le/seat/7/?expand=row');
      expect([head.status, head.text, head.headers['content-length']]).toEqual([
        200,
        '',
        whole.headers['content-length'],
      ]);
    });

    test('one that replaces the list of a model is not called for its expansion', async () => {
      expect((await started.client.get('/rest/v1/le/hall/')).text).toBe('{"halls":[{"id":1},{"id":2}]}');
      expect((await started.client.get('/rest/v1/le/seatrow/1,1/?expand=hall&only=hall')).text).toBe(
        '{"row":{"hall":{"id":1}}}',
      );
    });
  });
});
