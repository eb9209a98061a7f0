import { TypeOrmModule } from '@nestjs/typeorm';
import { Action, Restify, RestifyController } from 'nestjs-restify';
import {
  Column,
  DataSource,
  Entity,
  ManyToOne,
  OneToMany,
  ManyToMany,
  JoinTable,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { DataSourceOptions, Relation } from 'typeorm';
import { breakableLine } from '../support/breakable-line.js';
import type { BreakableLine } from '../support/breakable-line.js';
import type { TestDatabase } from '../support/databases.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

@Restify({ app: 'copies', searchFields: ['title'] })
@Entity('copies_book')
export class Book {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ unique: true })
  title: string;

  /** Which server it was read from. */
  @Column({ default: 'primary' })
  server: string;

  @ManyToOne(() => Author, (author) => author.books, { nullable: true, onDelete: 'RESTRICT' })
  author: Relation<Author> | null;

  @ManyToMany(() => Label)
  @JoinTable({ name: 'copies_book_labels' })
  labels: Relation<Label[]>;
}

@Restify({ app: 'copies', computed: { told: (author: object) => (author as Author).server } })
@Entity('copies_author')
export class Author {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: 'primary' })
  server: string;

  @OneToMany(() => Book, (book) => book.author)
  books: Relation<Book[]>;
}

@Restify('copies')
@Entity('copies_label')
export class Label {
  @PrimaryGeneratedColumn()
  id: number;
}

@RestifyController(Book)
class BookController {
  @Action({ detail: true, path: 'look' })
  look(): object {
    return { looked: true };
  }

  @Action({ detail: true, path: 'stamp', methods: ['POST'] })
  stamp(): object {
    return { stamped: true };
  }
}

const ENTITIES = [Book, Author, Label];
export const BOOKS = '/rest/v1/copies/book/';
export const AUTHORS = '/rest/v1/copies/author/';

/** An application whose data source writes to one database and reads from another, which nothing copies to. */
export class Replicated {
  readonly primaryLine: BreakableLine;
  readonly replicaLine: BreakableLine;
  primary: DataSource;
  replica: DataSource;
  started: StartedApp;

  /** `more` is added to the options of replication. */
  constructor(
    private readonly database: TestDatabase,
    private readonly more: object = { restoreNodeTimeout: 100 },
    private readonly prefixes?: AppSettings['restifyModules'],
  ) {
    this.primaryLine = breakableLine(database);
    this.replicaLine = breakableLine(database);
  }

  async start(): Promise<void> {
    let dropReplica = (): Promise<void> => Promise.resolve();
    const open = async (): ReturnType<TestDatabase['open']> => {
      const [master, slave] = [
        await this.primaryLine.database.open(),
        await this.replicaLine.database.open(),
      ];
      dropReplica = () => slave.drop();
      [this.primary, this.replica] = [
        await this.observe(this.primaryLine),
        await this.observe(this.replicaLine),
      ];
      this.alone = master.options;
      return {
        options: replicated(master.options, slave.options, this.more),
        drop: async () => {
          await master.drop();
        },
      };
    };
    this.started = await startApp({
      compare: false,
      entities: ENTITIES,
      database: { ...this.database, open },
      controllers: [BookController],
      dataSource: { synchronize: false },
      nest: {
        logger: {
          log: () => undefined,
          error: () => undefined,
          warn: (text: string) => this.warnings.push(text),
        },
      },
      // A second data source, on the primary alone.
      imports: this.prefixes
        ? [
            TypeOrmModule.forRootAsync({
              name: 'primary',
              useFactory: () => ({ ...this.alone, name: 'primary', entities: ENTITIES, retryAttempts: 0 }),
            }),
          ]
        : [],
      ...(this.prefixes ? { restifyModules: this.prefixes } : { restify: { acquireTimeout: 3000 } }),
    });
    this.dropReplica = () => dropReplica();
  }

  readonly warnings: string[] = [];
  /** Of the primary, as a data source without a replica has them. */
  private alone: DataSourceOptions | undefined;
  private dropReplica = (): Promise<void> => Promise.resolve();

  private observe(line: BreakableLine): Promise<DataSource> {
    return new DataSource({ ...line.direct(), entities: ENTITIES, synchronize: true }).initialize();
  }

  /** With the key that it says, which TypeORM would leave to the sequence. */
  async put(
    server: 'primary' | 'replica',
    table: string,
    values: Readonly<Record<string, string | number>>,
  ): Promise<void> {
    const quote = (name: string): string => this[server].driver.escape(name);
    const literals = Object.values(values).map((value) =>
      typeof value === 'number' ? String(value) : `'${value}'`,
    );
    await this[server].query(
      `INSERT INTO ${quote(table)} (${Object.keys(values).map(quote).join(', ')}) VALUES (${literals.join(', ')})`,
    );
  }

  async clear(): Promise<void> {
    for (const server of [this.primary, this.replica]) {
      for (const table of ['copies_book_labels', 'copies_book', 'copies_author', 'copies_label'])
        await server.query(`DELETE FROM ${table}`);
    }
  }

  async stop(): Promise<void> {
    await this.primary.destroy();
    await this.replica.destroy();
    await this.started.close();
    await this.dropReplica();
  }
}

/** TypeORM's options for both. A schema of PostgreSQL stands in each URL, because it is another one on each. */
function replicated(master: DataSourceOptions, slave: DataSourceOptions, more: object): DataSourceOptions {
  if (master.type !== 'postgres') {
    const { url, ...common } = master as { url: string } & DataSourceOptions;
    return {
      ...common,
      replication: { master: { url }, slaves: [{ url: (slave as { url: string }).url }], ...more },
    } as DataSourceOptions;
  }
  const located = (options: DataSourceOptions): { url: string } => {
    const { url, schema } = options as { url: string; schema: string };
    const place = new URL(url);
    place.searchParams.set('options', `-c search_path=${schema},public`);
    return { url: place.href };
  };
  return {
    type: 'postgres',
    installExtensions: false,
    uuidExtension: 'pgcrypto',
    extra: { max: 4 },
    replication: { master: located(master), slaves: [located(slave)] },
  };
}
