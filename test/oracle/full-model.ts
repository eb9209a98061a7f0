import {
  CsvRenderer,
  CursorPagination,
  IdempotencyRecord,
  IsAuthenticated,
  LimitOffsetPagination,
  ModelSerializer,
  NdjsonRenderer,
  PageNumberPagination,
  ResourceController,
  Restify,
  restify,
  RestifyController,
} from 'nestjs-restify';
import { IsOptional, IsPositive, Length, Matches, Max, MaxLength, Min, MinLength } from 'class-validator';
import type { HookContext, RepresentContext, Representation, Row, Write } from 'nestjs-restify';
import {
  ChildEntity,
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  EntitySchema,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  TableInheritance,
  Unique,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { columnsOf } from './full-columns.js';
import type { DatabaseName } from './full-columns.js';
import { CALLERS, OwnNotes } from './full-permissions.js';
import type { Caller } from './full-permissions.js';

const APP = 'full';

@Restify({
  app: APP,
  shape: true,
  pagination: new PageNumberPagination({ pageSize: 5, maxPageSize: 50 }),
  bulk: { upsert: ['name'], max: 10 },
  filterFields: { name: ['exact', 'icontains', 'in'], size: ['exact', 'gte', 'range', 'isnull'] },
  expandable: ['persons'],
})
@Entity('full_team')
export class Team {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @Column({ length: 40, unique: true })
  name: string;

  @IsOptional()
  @Min(0)
  @Column({ type: 'int', nullable: true })
  size: number | null;

  @OneToMany(() => Person, (person) => person.team)
  persons: Relation<Person[]>;
}

class Address {
  @Column({ length: 30, default: '' })
  street: string;

  @Column({ length: 10, nullable: true, type: 'varchar' })
  zip: string | null;
}

@Restify({
  app: APP,
  conditional: true,
  shape: true,
  bulk: true,
  filterGroups: true,
  orderingNulls: true,
  expandable: ['team', 'tags.tag', 'badge', 'notes'],
  computed: { label: (person: Person) => `${person.name} #${person.id}` },
  pagination: new LimitOffsetPagination({ pageSize: 4, maxPageSize: 20 }),
  filterFields: {
    id: ['exact', 'in', 'gt'],
    name: ['exact', 'iexact', 'startswith', 'ne'],
    born: ['exact', 'lt', 'isnull'],
    team: ['exact', 'in', 'isnull'],
    'team.name': ['exact'],
  },
})
@Entity('full_person')
export class Person {
  @PrimaryGeneratedColumn()
  id: number;

  @Matches(/^[A-Za-z0-9]/)
  @Column({ length: 30 })
  name: string;

  @Column({ type: 'date', nullable: true })
  born: string | null;

  @Column(() => Address)
  address: Address;

  @VersionColumn()
  version: number;

  @DeleteDateColumn({ select: false })
  deleted: Date | null;

  @ManyToOne(() => Team, (team) => team.persons, { nullable: true, onDelete: 'SET NULL' })
  team: Relation<Team> | null;

  @OneToOne(() => Badge, (badge) => badge.person)
  badge: Relation<Badge> | null;

  @ManyToMany(() => Tag, (tag) => tag.persons)
  @JoinTable({ name: 'full_person_tags' })
  tags: Relation<Tag[]>;

  @OneToMany(() => Note, (note) => note.person)
  notes: Relation<Note[]>;
}

@Restify({ app: APP, conditional: { require: true } })
@Entity('full_badge')
export class Badge {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 8, unique: true })
  code: string;

  @OneToOne(() => Person, (person) => person.badge, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn()
  person: Relation<Person>;
}

/** The client sets the key. */
@Restify({ app: APP, returnDeleted: true, bulk: true, filterFields: ['word', 'weight'] })
@Entity('full_tag')
export class Tag {
  @PrimaryColumn({ length: 20 })
  word: string;

  @Column({ default: 0 })
  weight: number;

  @ManyToMany(() => Person, (person) => person.tags)
  persons: Relation<Person[]>;

  @ManyToMany(() => Project, (project) => project.tags)
  projects: Relation<Project[]>;
}

@Restify({ app: APP, conditional: true, cacheControl: 'private, max-age=1', idempotency: true })
@Entity('full_project')
export class Project {
  @PrimaryGeneratedColumn()
  id: number;

  @MinLength(3)
  @Column({ length: 30 })
  title: string;

  @Column({ type: 'decimal', precision: 10, scale: 2, default: 0 })
  budget: string;

  @ManyToMany(() => Tag, (tag) => tag.projects)
  @JoinTable({
    name: 'full_label',
    joinColumn: { name: 'project_id' },
    inverseJoinColumn: { name: 'tag_word' },
    synchronize: false,
  })
  tags: Relation<Tag[]>;

  @ManyToOne(() => Project, { nullable: true, onDelete: 'NO ACTION' })
  parent: Relation<Project> | null;
}

/** The registered through object of projects and tags, with an additional column. */
@Restify({ app: APP, bulk: true, conditional: true })
@Entity('full_label')
@Unique('full_label_pair', ['project', 'tag'])
export class Label {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Project, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'project_id' })
  project: Relation<Project>;

  @ManyToOne(() => Tag, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'tag_word' })
  tag: Relation<Tag>;

  @Column({ length: 10, default: 'plain' })
  kind: string;
}

/** Rows and fields depend on the caller; a hook sets a field. */
@Restify({
  app: APP,
  authentication: [CALLERS],
  permissions: [IsAuthenticated, OwnNotes],
  readOnly: ['owner'],
  idempotency: true,
  bulk: true,
  conditional: true,
})
@Entity('full_note')
export class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @Length(2, 20)
  @Column({ length: 50 })
  text: string;

  @Column({ length: 10 })
  owner: string;

  @IsOptional()
  @MaxLength(40)
  @Column({ type: 'text', nullable: true })
  secret: string | null;

  @IsPositive()
  @Max(900)
  @Column({ type: 'smallint', default: 1 })
  stars: number;

  @CreateDateColumn()
  made: Date;

  @ManyToOne(() => Person, (person) => person.notes, { nullable: true, onDelete: 'SET NULL' })
  person: Relation<Person> | null;
}

@RestifyController(Note)
export class NoteController extends ResourceController<Note> {
  override valuesOnCreate({ actor }: HookContext): { owner: string } {
    return { owner: (actor as Caller).name };
  }

  override beforeWrite({ entity }: Write<Note>): Promise<void> {
    entity.secret ??= null;
    return Promise.resolve();
  }

  override async afterWrite({ manager }: Write<Note>): Promise<void> {
    await manager.count(Note);
  }
}

@Restify({ app: APP, filterFields: { title: ['exact', 'contains'] } })
@Entity('full_medium')
@TableInheritance({ column: 'kind' })
export class Medium {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 10 })
  kind: string;

  @Column({ length: 30 })
  title: string;
}

@Restify(APP)
@ChildEntity('film')
export class Film extends Medium {
  @Column()
  minutes: number;
}

@Restify(APP)
@ChildEntity('song')
export class Song extends Medium {
  @Column({ length: 20, default: 'pop' })
  genre: string;
}

/** A composite key. */
@Restify({ app: APP, strict: true, idempotency: { require: true }, bulk: true })
@Entity('full_invoice')
export class Invoice {
  @PrimaryColumn()
  year: number;

  @PrimaryColumn({ length: 10 })
  series: string;

  @Column({ type: 'decimal', precision: 6, scale: 2 })
  amount: string;

  @OneToMany(() => Line, (line) => line.invoice)
  lines: Relation<Line[]>;
}

@Restify({ app: APP, strict: true, shape: true, expandable: ['invoice'] })
@Entity('full_line')
export class Line {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  ware: string;

  @ManyToOne(() => Invoice, (invoice) => invoice.lines, { nullable: false, onDelete: 'NO ACTION' })
  invoice: Relation<Invoice>;
}

class ReadingSerializer extends ModelSerializer {
  override represent(row: Row, context: RepresentContext): Representation {
    const body = super.represent(row, context);
    return { ...body, fahrenheit: Number(body.celsius) * 1.8 + 32 };
  }
}

@Restify({
  app: APP,
  serializer: ReadingSerializer,
  ordering: ['-celsius'],
  pagination: new CursorPagination({
    secret: 'a secret of more than thirty-two characters',
    pageSize: 3,
    maxPageSize: 10,
  }),
})
@Entity('full_reading')
export class Reading {
  @PrimaryGeneratedColumn()
  id: number;

  @Column('float')
  celsius: number;
}

@Restify({
  app: APP,
  renderers: [new CsvRenderer(), new NdjsonRenderer()],
  operations: ['list', 'create', 'retrieve'],
})
@Entity('full_event')
export class Happening {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 30 })
  what: string;

  @Column({ default: true })
  open: boolean;
}

const ENTITIES = [
  Team,
  Person,
  Badge,
  Tag,
  Project,
  Label,
  Note,
  Medium,
  Film,
  Song,
  Invoice,
  Line,
  Reading,
  Happening,
  IdempotencyRecord,
];

const SHEETS = new Map<DatabaseName, EntitySchema<{ id: number }>>();

/** An entity with a column of every type of the database. */
function sheetOf(database: DatabaseName): EntitySchema<{ id: number }> {
  const known = SHEETS.get(database);
  if (known) return known;
  const sheet = new EntitySchema<{ id: number }>({
    name: 'Sheet',
    tableName: 'full_sheet',
    columns: { id: { type: Number, primary: true, generated: true }, ...columnsOf(database) } as never,
  });
  restify(sheet, { app: APP, bulk: true });
  SHEETS.set(database, sheet);
  return sheet;
}

/** A model with all features. */
export function fullEntities(
  database: DatabaseName,
): ((typeof ENTITIES)[number] | EntitySchema<{ id: number }>)[] {
  return [...ENTITIES, sheetOf(database)];
}
