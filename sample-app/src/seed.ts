import type { DataSource } from 'typeorm';
import { Question } from './polls/question.entity.js';
import { seedClub } from './seed/club.js';
import { seedDesk } from './seed/desk.js';
import { seedLab } from './seed/lab.js';
import { seedLibrary } from './seed/library.js';
import { seedPolls } from './seed/polls.js';
import { seedSchool } from './seed/edu.js';

/** Inserts some hundred sample rows into an empty database. Returns whether it has inserted any. */
export async function seed(dataSource: DataSource): Promise<boolean> {
  return dataSource.transaction(async (manager) => {
    // Inside the transaction, because a replica may lag behind.
    if ((await manager.count(Question)) > 0) return false;
    await seedPolls(manager);
    await seedLab(manager);
    await seedSchool(manager);
    await seedLibrary(manager);
    await seedClub(manager);
    await seedDesk(manager);
    return true;
  });
}

/** Whether to insert sample rows: in the default SQLite file, and if `SAMPLE_ROWS=yes`. */
export function isSeeded({
  DATABASE_URL: url = '',
  SAMPLE_ROWS: rows = '',
}: {
  readonly DATABASE_URL?: string | undefined;
  readonly SAMPLE_ROWS?: string | undefined;
}): boolean {
  return url === '' || rows === 'yes';
}
