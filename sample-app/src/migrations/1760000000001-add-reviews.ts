import type { MigrationInterface, QueryRunner } from 'typeorm';
import { cascading, createTable, integerType } from './tables.js';

/** Adds the table to databases that an earlier version of this application has created. */
export class AddReviews1760000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const type = integerType(runner);
    const columns = [
      { name: 'id', type, isPrimary: true, isGenerated: true, generationStrategy: 'increment' as const },
      { name: 'text', type: 'varchar', length: '200' },
      { name: 'stars', type, default: 0 },
      { name: 'bookId', type },
    ];
    await createTable(runner, {
      name: 'library_review',
      columns,
      foreignKeys: [cascading('bookId', 'library_book')],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('library_review');
  }
}
