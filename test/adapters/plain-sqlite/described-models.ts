import type { DataType } from '../../../src/core/schema/data-type.js';
import type {
  ColumnDescription,
  EntityDescription,
  ModelDescription,
  RelationDescription,
} from '../../../src/core/schema/entity-metadata.js';
import { restify } from '../../../src/decorators/restify.decorator.js';
import { PageNumberPagination } from '../../../src/features/pagination/offset-pagination.js';

class Maker {
  id: number;
  name: string;
  gadgets: Gadget[];
}

class Gadget {
  id: number;
  name: string;
  inStock: boolean;
  made: Date | null;
  maker: Maker;
}

class Reading {
  id: number;
  degrees: number;
}

restify(Maker, { app: 'plain', shape: true, expandable: ['gadgets'] });
restify(Gadget, {
  app: 'plain',
  filterFields: {
    inStock: ['exact'],
    name: ['exact', 'startswith'],
    maker: ['exact'],
    'maker.name': ['exact'],
    made: ['isnull'],
  },
  searchFields: ['name'],
  pagination: new PageNumberPagination({ pageSize: 2 }),
  shape: true,
  expandable: ['maker'],
});
restify(Reading, { app: 'plain' });

const INTEGER: DataType = { kind: 'integer', min: -(2 ** 31), max: 2 ** 31 - 1 };
const TEXT: DataType = { kind: 'string', maxLength: 40, trim: true };

function column(id: string, type: DataType, more: Partial<ColumnDescription> = {}): ColumnDescription {
  return {
    id,
    path: id,
    type,
    nullable: false,
    internal: false,
    acceptsNull: false,
    primary: false,
    generated: false,
    hasDefault: false,
    selected: true,
    insertable: true,
    updatable: true,
    unversioned: false,
    fullText: false,
    ...more,
  };
}

const KEY = column('id', INTEGER, { primary: true, generated: true });

function entity(
  target: new () => object,
  columns: readonly ColumnDescription[],
  relations: readonly RelationDescription[] = [],
): EntityDescription {
  return {
    id: target.name.toLowerCase(),
    name: target.name,
    targets: [target],
    writable: true,
    creatable: true,
    columns: [KEY, ...columns],
    key: ['id'],
    unique: [['id']],
    relations,
    referrers: [],
    referredColumns: [],
    unjoined: [],
    exposures: new Map(),
    rules: new Map(),
    orderBy: [],
    unsupported: [],
  };
}

export const DESCRIPTION: ModelDescription = {
  entities: [
    entity(
      Maker,
      [column('name', TEXT)],
      [
        {
          kind: 'one-to-many',
          path: 'gadgets',
          target: 'gadget',
          on: [{ localColumn: 'id', referencedColumn: 'maker_id' }],
        },
      ],
    ),
    entity(
      Gadget,
      [
        column('name', TEXT),
        column('in_stock', { kind: 'boolean' }, { path: 'inStock' }),
        column('made', { kind: 'datetime', digits: 3, zoned: false }, { nullable: true, acceptsNull: true }),
        column('maker_id', INTEGER, { path: 'maker', internal: true }),
      ],
      [
        {
          kind: 'to-one',
          path: 'maker',
          target: 'maker',
          on: [{ localColumn: 'maker_id', referencedColumn: 'id' }],
          nullable: false,
          hasDefault: false,
          insertable: true,
          updatable: true,
        },
      ],
    ),
    // SQLite does not write the JSON of floats.
    entity(Reading, [column('degrees', { kind: 'float' })]),
  ],
  abilities: { regex: false, fullText: 'none' },
  given: [],
  dataSource: 'default',
};

export const TABLES = `
CREATE TABLE maker (id integer PRIMARY KEY, name varchar(40) NOT NULL);
CREATE TABLE gadget (
  id integer PRIMARY KEY,
  name varchar(40) NOT NULL,
  in_stock boolean NOT NULL,
  made datetime,
  maker_id integer NOT NULL REFERENCES maker (id)
);
CREATE TABLE reading (id integer PRIMARY KEY, degrees real NOT NULL);
INSERT INTO maker VALUES (1, 'Acme'), (2, 'Bolt');
INSERT INTO gadget VALUES
  (1, 'lamp', 1, '2026-01-02 03:04:05.678', 1),
  (2, 'lift', 0, NULL, 1),
  (3, 'saw', 1, NULL, 2);
INSERT INTO reading VALUES (1, 20.5), (2, -3.25);
`;
