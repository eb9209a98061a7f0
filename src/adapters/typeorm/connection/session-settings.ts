import type { DataSource, ReplicationMode } from 'typeorm';
import type { DeclarationProblem } from '../../../core/errors/declaration-error.js';
import type { Dialect, SettingRule } from '../../../sql/dialects/dialect.js';

/** Why the server is none of this dialect. Such a server may not know the settings, nor the catalogue. */
export async function serverProblems(
  dataSource: DataSource,
  { otherServers }: Pick<Dialect, 'otherServers'>,
): Promise<readonly DeclarationProblem[]> {
  return otherServers.length > 0 ? problemsOn('master', dataSource, otherServers) : [];
}

/** What is wrong with the settings of sessions: of one connection to the primary server, and of one to a replica, if there is one that answers. */
export async function settingProblems(
  dataSource: DataSource,
  { settings }: Pick<Dialect, 'settings'>,
): Promise<readonly DeclarationProblem[]> {
  const found = await problemsOn('master', dataSource, settings);
  if (found.length > 0 || !('replication' in dataSource.options)) return found;
  return problemsOn('slave', dataSource, settings).catch(() => []);
}

async function problemsOn(
  mode: ReplicationMode,
  dataSource: DataSource,
  settings: readonly SettingRule[],
): Promise<readonly DeclarationProblem[]> {
  const runner = dataSource.createQueryRunner(mode);
  try {
    const read = settings.map((rule, index) => `${rule.read} AS c${index}`).join(', ');
    const [record] = (await runner.query(`SELECT ${read}`)) as readonly Readonly<Record<string, unknown>>[];
    const where = `the sessions of the ${mode === 'master' ? 'data source' : 'replicas'}`;
    return settings.flatMap((rule, index) =>
      rule.problems(String(record?.[`c${index}`])).map((problem) => ({ where, ...problem })),
    );
  } finally {
    await runner.release();
  }
}
