import type { MigrationInterface, QueryRunner } from 'typeorm';
import { cascading, create, integerType } from './tables.js';

/** A file that an earlier version of this application has made gets the new table as well. */
export class AddReviews1760000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const type = integerType(runner);
    const columns = [
      { name: 'id', type, isPrimary: true, isGenerated: true, generationStrategy: 'increment' as const },
      { name: 'text', type: 'varchar', length: '200' },
      { name: 'stars', type, default: 0 },
      { name: 'bookId', type },
    ];
    await create(runner, 'library_review', columns, { foreignKeys: [cascading('bookId', 'library_book')] });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('library_review');
  }
}
