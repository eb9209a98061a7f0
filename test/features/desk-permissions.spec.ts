// @tags db http
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Agent } from '../../sample-app/src/desk/agent.entity.js';
import { Assignment } from '../../sample-app/src/desk/assignment.entity.js';
import { Comment } from '../../sample-app/src/desk/comment.entity.js';
import { DeskModule } from '../../sample-app/src/desk/desk.module.js';
import { Organisation } from '../../sample-app/src/desk/organisation.entity.js';
import { Ticket } from '../../sample-app/src/desk/ticket.entity.js';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

type Who = 'admin' | 'clerk' | 'scribe' | 'planner' | 'guest' | 'nobody';

const WHO: readonly Who[] = ['admin', 'clerk', 'scribe', 'planner', 'guest', 'nobody'];

function credentials(who: Who): Record<string, string> {
  return who === 'nobody'
    ? {}
    : { authorization: `Basic ${Buffer.from(`${who}:${who}`).toString('base64')}` };
}

/**
 * A request, and the status that each caller gets, in the order of WHO. Rows: ticket 1 with comment 1 and assignment 1
 * of agent 1; agent 2 has none.
 */
type Cell = readonly [method: string, path: string, body: unknown, statuses: readonly number[]];

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

const TABLES = ['ticket', 'comment', 'agent', 'assignment'] as const;

const TICKET = { subject: 'Printer' };
const COMMENT = { ticket: 1, text: 'Paper' };

const MATRIX: readonly Cell[] = [
  // own endpoints: the model's own permissions
  ['GET', '/ticket/', undefined, [200, 200, 403, 200, 403, 401]],
  ['HEAD', '/ticket/', undefined, [200, 200, 403, 200, 403, 401]],
  ['GET', '/ticket', undefined, [200, 200, 403, 200, 403, 401]],
  ['POST', '/ticket/', TICKET, [201, 201, 403, 403, 403, 401]],
  ['GET', '/ticket/1/', undefined, [200, 200, 403, 200, 403, 401]],
  ['PUT', '/ticket/1/', TICKET, [200, 200, 403, 403, 403, 401]],
  ['PATCH', '/ticket/1/', TICKET, [200, 200, 403, 403, 403, 401]],
  ['DELETE', '/ticket/1/', undefined, [204, 204, 403, 403, 403, 401]],
  ['GET', '/comment/', undefined, [200, 403, 200, 403, 403, 401]],
  ['POST', '/comment/', COMMENT, [201, 403, 201, 403, 403, 401]],
  ['PATCH', '/comment/1/', { text: 'Ink' }, [200, 403, 200, 403, 403, 401]],
  ['DELETE', '/comment/1/', undefined, [204, 403, 204, 403, 403, 401]],
  ['GET', '/agent/1/', undefined, [200, 403, 403, 200, 403, 401]],
  ['POST', '/agent/', { name: 'Eve' }, [201, 403, 403, 403, 403, 401]],
  ['GET', '/assignment/', undefined, [200, 403, 403, 200, 403, 401]],
  ['POST', '/assignment/', { ticket: 1, agent: 2 }, [201, 403, 403, 201, 403, 401]],
  ['PATCH', '/assignment/1/', { role: 'lead' }, [200, 403, 403, 200, 403, 401]],
  ['DELETE', '/assignment/1/', undefined, [204, 403, 403, 204, 403, 401]],
  // one-to-many: the child's permissions; the parent's do not apply
  ['GET', '/ticket/1/comments/', undefined, [200, 403, 200, 403, 403, 401]],
  ['HEAD', '/ticket/1/comments/', undefined, [200, 403, 200, 403, 403, 401]],
  ['GET', '/ticket/9/comments/', undefined, [404, 403, 404, 403, 403, 401]],
  ['POST', '/ticket/1/comments/', COMMENT, [405, 403, 405, 403, 403, 401]],
  ['DELETE', '/ticket/1/comments/', undefined, [405, 403, 405, 403, 403, 401]],
  // many-to-many, from both sides: the through model's permissions
  ['GET', '/ticket/1/agents/', undefined, [200, 403, 403, 200, 403, 401]],
  ['POST', '/ticket/1/agents/', { agent: 2 }, [201, 403, 403, 201, 403, 401]],
  ['PUT', '/ticket/1/agents/', { agent: 2 }, [405, 403, 403, 405, 403, 401]],
  ['GET', '/ticket/1/agents/1/', undefined, [200, 403, 403, 200, 403, 401]],
  ['PUT', '/ticket/1/agents/1/', { agent: 2 }, [200, 403, 403, 200, 403, 401]],
  ['PATCH', '/ticket/1/agents/1/', { role: 'lead' }, [200, 403, 403, 200, 403, 401]],
  ['DELETE', '/ticket/1/agents/1/', undefined, [204, 403, 403, 204, 403, 401]],
  ['GET', '/agent/1/tickets/', undefined, [200, 403, 403, 200, 403, 401]],
  ['POST', '/agent/2/tickets/', { ticket: 1 }, [201, 403, 403, 201, 403, 401]],
  ['PATCH', '/agent/1/tickets/1/', { role: 'lead' }, [200, 403, 403, 200, 403, 401]],
  ['DELETE', '/agent/1/tickets/1/', undefined, [204, 403, 403, 204, 403, 401]],
  // the wrong parent: nothing is read, changed or deleted
  ['GET', '/agent/2/tickets/1/', undefined, [404, 403, 403, 404, 403, 401]],
  ['PATCH', '/agent/2/tickets/1/', { role: 'lead' }, [404, 403, 403, 404, 403, 401]],
  ['DELETE', '/agent/2/tickets/1/', undefined, [404, 403, 403, 404, 403, 401]],
  // OPTIONS wants a caller, and no right
  ['OPTIONS', '/ticket/', undefined, [200, 200, 200, 200, 200, 401]],
  ['OPTIONS', '/ticket/1/agents/', undefined, [200, 200, 200, 200, 200, 401]],
  // a method that no permission names: admitted, then not served
  ['PROPFIND', '/ticket/', undefined, [405, 405, 405, 405, 405, 401]],
];

onEachDatabase('permissions of the help desk', (database) => {
  let started: StartedApp;
  /** What the tables hold at the beginning of a test; undefined where they have to be filled for it. */
  let filled: unknown;

  beforeAll(async () => {
    started = await startApp({
      entities: [Agent, Assignment, Comment, Organisation, Ticket],
      imports: [DeskModule],
      database,
    });
  });
  afterAll(() => started.close());

  beforeEach(async () => {
    if (filled !== undefined) return;
    await fill();
    filled = await contents();
  });

  async function fill(): Promise<void> {
    const { manager } = started.dataSource;
    for (const entity of [Assignment, Comment, Agent, Ticket]) await manager.deleteAll(entity);
    const ticketId = started.dataSource.driver.escape('ticketId');
    await manager.query("INSERT INTO desk_ticket (id, subject, body) VALUES (1, 'Network', '')");
    await manager.query(`INSERT INTO desk_comment (id, text, ${ticketId}) VALUES (1, 'Down', 1)`);
    await manager.query("INSERT INTO desk_agent (id, name) VALUES (1, 'Ann'), (2, 'Bob')");
    await manager.query('INSERT INTO desk_assignment (id, ticket_id, agent_id) VALUES (1, 1, 1)');
    if (database.name === 'postgres') {
      for (const table of TABLES)
        await manager.query(`SELECT setval(pg_get_serial_sequence('desk_${table}', 'id'), 10)`);
    }
  }

  async function contents(): Promise<unknown> {
    const rows: unknown[] = [];
    for (const table of TABLES)
      rows.push(await started.dataSource.query(`SELECT * FROM desk_${table} ORDER BY id`));
    return rows;
  }

  describe.each(MATRIX)('%s %s', (method, path, body, statuses) => {
    test.each(WHO.map((who, index) => [who, statuses[index] ?? 0] as const))(
      '%s gets %i, and neither a refusal nor a look changes anything',
      async (who, status) => {
        const before = filled;
        filled = undefined;
        const answer = await started.client.send(method, `/rest/v1/desk${path}`, {
          body,
          headers: credentials(who),
        });
        expect(answer.status).toBe(status);
        expectRefusal(answer, method);
        if (status < 400 && !READING.has(method)) return;
        expect(await contents()).toEqual(before);
        filled = before;
      },
    );
  });

  test('lists in OPTIONS only what the caller may do', async () => {
    const actions = async (who: Who): Promise<unknown> =>
      Object.keys(
        (
          (await started.client.send('OPTIONS', '/rest/v1/desk/ticket/1/', { headers: credentials(who) }))
            .json as { actions: object }
        ).actions,
      );
    expect(await actions('clerk')).toEqual(['PUT']);
    expect(await actions('planner')).toEqual([]);
  });

  test('describes the through objects below a ticket as the model of the junction describes itself', async () => {
    const { json } = await started.client.send('OPTIONS', '/rest/v1/desk/ticket/1/agents/', {
      headers: credentials('planner'),
    });
    expect(json).toMatchObject({ label: '{role}', description: 'Who works on which ticket.' });
  });

  test('lets a caller comment on a ticket who has no permission for tickets', async () => {
    filled = undefined;
    const answer = await started.client.post('/rest/v1/desk/comment/', COMMENT, {
      headers: credentials('scribe'),
    });
    expect([answer.status, answer.json]).toEqual([201, { id: expect.any(Number), text: 'Paper', ticket: 1 }]);
  });
});

function expectRefusal(answer: Answer, method: string): void {
  if (method === 'HEAD') return;
  if (answer.status === 401) {
    expect(answer.json).toEqual({ detail: 'Authentication credentials were not provided.' });
    expect(answer.headers['www-authenticate']).toBe('Basic realm="api"');
  }
  if (answer.status === 403)
    expect(answer.json).toEqual({ detail: 'You do not have permission to perform this action.' });
}
