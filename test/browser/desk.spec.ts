// @tags db
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { ClubModule } from '../../sample-app/src/club/club.module.js';
import { ENTITIES } from '../../sample-app/src/data-source-options.js';
import { Agent } from '../../sample-app/src/desk/agent.entity.js';
import { Assignment } from '../../sample-app/src/desk/assignment.entity.js';
import { Comment } from '../../sample-app/src/desk/comment.entity.js';
import { DeskModule } from '../../sample-app/src/desk/desk.module.js';
import { Ticket } from '../../sample-app/src/desk/ticket.entity.js';
import { AllowAny } from 'nestjs-restify';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { openBrowser, RUNS_BROWSER, Visitor } from './open-browser.js';

const DESK = '/rest/v1/desk/';
const MODELS = ['ticket', 'comment', 'agent', 'assignment'] as const;

(RUNS_BROWSER ? describe : describe.skip)(
  'the help desk of the sample application, written by its users',
  () => {
    onEachDatabase(
      'in Chromium',
      (database) => {
        let started: StartedApp;
        let browser: Browser;
        let visitor: Visitor;
        let ticket: Ticket;
        beforeAll(async () => {
          started = await startApp({
            entities: ENTITIES,
            imports: [ClubModule, DeskModule],
            database,
            compare: false,
            restify: { browsable: true, permissions: [AllowAny] },
          });
          browser = await openBrowser();
        });
        beforeEach(async () => {
          const { manager } = started.dataSource;
          for (const entity of [Comment, Assignment, Ticket, Agent])
            await manager.createQueryBuilder().delete().from(entity).execute();
          ticket = await manager.save(Ticket, { subject: 'Printer', body: '' });
          await manager.save(Agent, { name: 'Ada' });
          visitor = await Visitor.open(browser, `http://127.0.0.1:${started.port}`);
        });
        afterEach(async () => {
          expect(visitor.problems).toEqual([]);
          await visitor.page.context().close();
        });
        afterAll(async () => {
          await browser.close();
          await started.close();
        });

        const open = async (path: string, user: string): Promise<void> => {
          await visitor.goto(DESK + path);
          await visitor.logIn(user, user);
        };
        const saved = (message: 'Created.' | 'Saved.' | 'Deleted.'): Promise<void> =>
          visitor.page.getByText(message).waitFor();

        test.each([
          ['admin', ['ticket', 'comment', 'agent', 'assignment']],
          ['clerk', ['ticket']],
          ['scribe', ['comment']],
          ['planner', ['assignment']],
          ['guest', []],
        ])('%s may create objects of %j', async (user, expected) => {
          const found: string[] = [];
          for (const model of MODELS) {
            await open(`${model}/`, user);
            if ((await visitor.page.getByRole('button', { name: /^New / }).count()) > 0) found.push(model);
          }
          expect(found).toEqual(expected);
        });

        test('clerk creates, changes and deletes a ticket', async () => {
          await open('ticket/', 'clerk');
          await visitor.click('button', /^(New|Add to) /);
          await visitor.field(/^Subject/).fill('Screen');
          await visitor.submit(/^(Create|Add to) /);
          await saved('Created.');
          await visitor.click('button', 'Change');
          await visitor.field('Body').fill('It is black.');
          await visitor.submit('Save');
          await saved('Saved.');
          expect(await started.dataSource.manager.findOneBy(Ticket, { subject: 'Screen' })).toMatchObject({
            body: 'It is black.',
          });
          await visitor.click('button', 'Delete');
          await visitor.submit('Delete');
          await saved('Deleted.');
          expect(await started.dataSource.manager.countBy(Ticket, { subject: 'Screen' })).toBe(0);
        });

        test('two clerks change one ticket at once, and nothing is lost', async () => {
          await open(`ticket/${ticket.id}/`, 'clerk');
          await visitor.click('button', 'Change');
          await visitor.field(/^Subject/).fill('Printer on fire');
          const other = await Visitor.open(browser, visitor.origin);
          await other.goto(`${DESK}ticket/${ticket.id}/`);
          await other.logIn('admin', 'admin');
          await other.click('button', 'Change');
          await other.field('Body').fill('Room 7.');
          await other.submit('Save');
          await other.page.getByText('Saved.').waitFor();
          await other.page.context().close();
          await visitor.submit('Save');
          await visitor.page.getByText('Somebody else has changed this object').waitFor();
          await visitor.page.getByRole('button', { name: 'Save this choice' }).click();
          await saved('Saved.');
          expect(await started.dataSource.manager.findOneBy(Ticket, { id: ticket.id })).toMatchObject({
            subject: 'Printer on fire',
            body: 'Room 7.',
          });
        });

        test('scribe comments on a ticket that he may not view, by its key', async () => {
          await open('comment/', 'scribe');
          await visitor.click('button', /^(New|Add to) /);
          await visitor.field(/^Text/).fill('Which one?');
          expect(await visitor.page.getByRole('combobox').count()).toBe(0);
          await visitor.field(/^Ticket/).fill(String(ticket.id));
          await visitor.submit(/^(Create|Add to) /);
          await saved('Created.');
          const [comment] = await started.dataSource.manager.find(Comment, { relations: { ticket: true } });
          expect(comment).toMatchObject({ text: 'Which one?', ticket: { id: ticket.id } });
        });

        test('planner assigns an agent below the ticket, and changes the role below the agent', async () => {
          await open(`ticket/${ticket.id}/agents/`, 'planner');
          await visitor.click('button', /^(New|Add to) /);
          await visitor.page.getByRole('combobox', { name: 'Agent' }).focus();
          await visitor.page.getByRole('option', { name: 'Ada' }).click();
          await visitor.submit(/^(Create|Add to) /);
          await saved('Created.');
          const [assignment] = await started.dataSource.manager.find(Assignment, {
            relations: { agent: true },
          });
          expect(assignment).toMatchObject({ role: 'helper', agent: { name: 'Ada' } });
          await open(`agent/${assignment?.agent.id ?? 0}/tickets/`, 'planner');
          await visitor.click('link', /^Open/);
          await visitor.click('button', 'Change');
          await visitor.field('Role').fill('owner');
          await visitor.submit('Save');
          await saved('Saved.');
          expect((await started.dataSource.manager.find(Assignment))[0]?.role).toBe('owner');
        });
      },
      ['sqlite', 'postgres'],
    );
  },
);
