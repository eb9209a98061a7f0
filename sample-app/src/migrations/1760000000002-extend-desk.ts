import { TableColumn, TableForeignKey } from 'typeorm';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { cascading, createTable, enumType, instantDefault, instantType, integerType } from './tables.js';

const TICKET = 'desk_ticket';

/** Adds organisations, and what tickets tell of their work, to databases that an earlier version of this application has created. */
export class ExtendDesk1760000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const type = integerType(runner);
    await createTable(runner, {
      name: 'desk_organisation',
      columns: [
        { name: 'id', type, isPrimary: true, isGenerated: true, generationStrategy: 'increment' },
        { name: 'name', type: 'varchar', length: '75' },
      ],
    });
    const { precision, default: now } = instantDefault(runner) as { precision?: number; default: string };
    const instant = { type: instantType(runner), ...(precision === undefined ? {} : { precision }) };
    const columns = [
      {
        name: 'status',
        ...enumType(runner, TICKET, 'status'),
        enum: ['open', 'waiting', 'solved'],
        default: "'open'",
      },
      { name: 'created_at', ...instant, default: now },
      { name: 'deleted_at', ...instant, isNullable: true },
      { name: 'organisationId', type, isNullable: true },
    ];
    await runner.addColumns(
      TICKET,
      columns.map((column) => new TableColumn(column)),
    );
    await runner.createForeignKey(
      TICKET,
      new TableForeignKey({ ...cascading('organisationId', 'desk_organisation'), onDelete: 'SET NULL' }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    const table = await runner.getTable(TICKET);
    const keys = table?.foreignKeys.filter(({ columnNames }) => columnNames.includes('organisationId')) ?? [];
    await runner.dropForeignKeys(TICKET, keys);
    await runner.dropColumns(TICKET, ['organisationId', 'deleted_at', 'created_at', 'status']);
    await runner.dropTable('desk_organisation');
  }
}
