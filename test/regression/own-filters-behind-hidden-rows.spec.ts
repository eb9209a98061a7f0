// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Everybody but the boss sees public authors alone. */
class PublicAuthors implements Permission {
  decide({ actor }: AccessContext): Grant {
    return (actor as { name?: string } | null)?.name === 'boss'
      ? allow()
      : allow({ rows: where('secret', false) });
  }
}

@Restify({ app: 'behind', permissions: [PublicAuthors] })
@Entity('behind_author')
class Author {
  @PrimaryColumn()
  id: number;

  @Column()
  name: string;

  @Column()
  secret: boolean;
}

@Restify('behind')
@Entity('behind_remark')
class Remark {
  @PrimaryColumn()
  id: number;

  @ManyToOne(() => Author)
  author: Relation<Author>;

  @ManyToOne(() => Paper, (paper) => paper.remarks)
  paper: Relation<Paper>;
}

/** Its author stands in a column of the same name as that of its remarks. */
@Restify({
  app: 'behind',
  filters: {
    by: { type: 'text', reads: ['remarks.author.name'], rows: (name) => where('remarks.author.name', name) },
    byAny: {
      type: 'text',
      list: true,
      reads: ['remarks.author.name', 'id'],
      rows: (names) => where('remarks.author.name', 'in', names),
    },
  },
})
@Entity('behind_paper')
class Paper {
  @PrimaryColumn()
  id: number;

  @ManyToOne(() => Author)
  author: Relation<Author>;

  @OneToMany(() => Remark, (remark) => remark.paper)
  remarks: Relation<Remark[]>;
}

@Restify({
  app: 'behind',
  filters: {
    by: { type: 'text', reads: ['notes.author.name'], rows: (name) => where('notes.author.name', name) },
  },
})
@Entity('behind_shelf')
class Shelf {
  @PrimaryColumn()
  id: number;

  @OneToMany(() => Note, (note) => note.shelf)
  notes: Relation<Note[]>;
}

@Restify('behind')
@Entity('behind_note')
class Note {
  @PrimaryColumn()
  id: number;

  @ManyToOne(() => Author)
  author: Relation<Author>;

  @ManyToOne(() => Shelf, (shelf) => shelf.notes)
  shelf: Relation<Shelf>;
}

onEachDatabase(
  "filters of a model's own that read over many, and then over one of which rows are hidden",
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({
        database,
        entities: [Author, Remark, Paper, Shelf, Note],
        configure: (app) =>
          app.use(
            (
              request: { headers: Readonly<Record<string, unknown>>; user?: unknown },
              _response: unknown,
              next: () => void,
            ) => {
              if (request.headers['x-name'] !== undefined) request.user = { name: request.headers['x-name'] };
              next();
            },
          ),
      });
      const { manager } = started.dataSource;
      const [open, hidden] = [{ id: 1 }, { id: 2 }];
      await manager.save(Author, [
        { ...open, name: 'Open', secret: false },
        { ...hidden, name: 'Hidden', secret: true },
      ]);
      await manager.save(Paper, [
        { id: 1, author: open },
        { id: 2, author: open },
      ]);
      await manager.save(Remark, [
        { id: 1, author: open, paper: { id: 1 } },
        { id: 2, author: hidden, paper: { id: 2 } },
      ]);
      await manager.save(Shelf, [{ id: 1 }, { id: 2 }]);
      await manager.save(Note, [
        { id: 1, author: open, shelf: { id: 1 } },
        { id: 2, author: hidden, shelf: { id: 2 } },
      ]);
    });
    afterAll(() => started.close());

    const ids = async (query: string, name = ''): Promise<unknown> => {
      const { status, json, text } = await started.client.get(
        `/rest/v1/behind/${query}`,
        name === '' ? {} : { headers: { 'x-name': name } },
      );
      return status === 200 ? (json as { id: number }[]).map(({ id }) => id) : [status, text];
    };

    test.each(['paper/?by=', 'paper/?byAny=', 'shelf/?by='])(
      '%s is a parameter only for callers who may see all rows',
      async (query) => {
        expect(await ids(`${query}Hidden`, 'boss')).toEqual([2]);
        for (const name of ['Hidden', 'Open', 'Nobody'])
          expect([name, await ids(`${query}${name}`)]).toEqual([name, [1, 2]]);
      },
    );
  },
);
