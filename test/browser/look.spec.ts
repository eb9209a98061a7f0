// @tags core
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AllowAny } from 'nestjs-restify';
import type { Browser } from 'playwright-core';
import { ClubModule } from '../../sample-app/src/club/club.module.js';
import { ENTITIES } from '../../sample-app/src/data-source-options.js';
import { Agent } from '../../sample-app/src/desk/agent.entity.js';
import { Assignment } from '../../sample-app/src/desk/assignment.entity.js';
import { Comment } from '../../sample-app/src/desk/comment.entity.js';
import { DeskModule } from '../../sample-app/src/desk/desk.module.js';
import { Ticket } from '../../sample-app/src/desk/ticket.entity.js';
import { Choice } from '../../sample-app/src/polls/choice.entity.js';
import { Question } from '../../sample-app/src/polls/question.entity.js';
import { seedFewRows } from '../support/seed-few-rows.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { findBarriers, openBrowser, RUNS_BROWSER, Visitor } from './open-browser.js';

/** A folder for pictures of the views, of which the documents show three: `PICTURES=docs/pictures npx jest test/browser/look.spec.ts`. */
const { PICTURES } = process.env;
const CHOICES = '/rest/v1/polls/choice/';

(RUNS_BROWSER ? describe : describe.skip)('looking at the sample application', () => {
  describe('in Chromium', () => {
    let started: StartedApp;
    let browser: Browser;
    let visitor: Visitor;
    beforeAll(async () => {
      started = await startApp({
        entities: ENTITIES,
        imports: [ClubModule, DeskModule],
        compare: false,
        restify: { browsable: true, permissions: [AllowAny] },
      });
      await seedFewRows(started.dataSource);
      const { manager } = started.dataSource;
      const ticket = await manager.save(Ticket, {
        subject: 'The printer is on fire',
        body: 'Again, and the detector is loud.',
      });
      const agent = await manager.save(Agent, { name: 'Ada' });
      await manager.save(Comment, { ticket, text: 'Which one?' });
      await manager.save(Assignment, { ticket, agent, role: 'owner' });
      const question = await manager.save(Question, {
        question_text: 'Which day suits?',
        pub_date: new Date('2026-03-01T08:00:00Z'),
      });
      await manager.save(
        Choice,
        ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'].map((choice_text, at) => ({
          choice_text,
          votes: 2 * at,
          question,
        })),
      );
      browser = await openBrowser();
    });
    beforeEach(async () => {
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

    test('a first visitor finds the choices of a question with more than five votes', async () => {
      const { page } = visitor;
      await visitor.goto('/');
      await visitor.click('link', 'Questions');
      await visitor.click('link', 'Open Which day suits?');
      await visitor.click('link', 'Choices');
      await page.getByText('Filters').click();
      await page.getByLabel('Field').selectOption({ label: 'Votes' });
      await page.getByLabel('Comparison').selectOption({ label: 'is greater than' });
      await page.getByLabel('Value').fill('5');
      await visitor.click('button', 'Apply');
      expect(await visitor.column('Choice text')).toEqual(['Thursday', 'Friday']);
    });

    test('a first visitor finds the choices with most votes, by filters, order, Back and forward', async () => {
      const { page } = visitor;
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      await visitor.goto('/');
      expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toContain('polls');
      await visitor.click('link', 'Choices');
      expect(visitor.url).toBe(CHOICES);
      await page.getByText('Filters').click();
      await page.getByLabel('Field').selectOption({ label: 'Choice text' });
      await page.getByLabel('Value').fill('Friday');
      await visitor.click('button', 'Apply');
      expect(visitor.url).toBe(`${CHOICES}?choice_text=Friday`);
      expect(await visitor.column('Votes')).toEqual(['8']);
      await visitor.click('link', /^Remove the filter/);
      await visitor.click('link', 'Order by Votes');
      expect((await visitor.column('Votes')).slice(-3)).toEqual(['6', '7', '8']);
      await visitor.click('link', 'Order by Votes');
      expect((await visitor.column('Votes')).slice(0, 3)).toEqual(['8', '7', '6']);
      expect(visitor.url).toBe(`${CHOICES}?ordering=-votes`);
      expect(await page.locator('th[aria-sort="descending"]').count()).toBe(1);
      await page.goBack();
      await visitor.settle();
      expect((await visitor.column('Votes')).slice(-1)).toEqual(['8']);
      await page.goForward();
      await visitor.settle();
      expect((await visitor.column('Votes')).slice(0, 1)).toEqual(['8']);
      await page.getByText('Filters').click();
      await page.getByLabel('Field').selectOption({ label: 'Question' });
      await page.getByRole('combobox', { name: 'Value' }).focus();
      await page.getByRole('option', { name: 'Which day suits?' }).click();
      await visitor.click('button', 'Apply');
      expect((await visitor.column('Choice text')).slice(0, 2)).toEqual(['Friday', 'Thursday']);
      expect(visitor.url).toMatch(/\?ordering=-votes&question=\d+$/);
      await page.goBack();
      await visitor.settle();
      // The address is the API's own.
      expect(((await started.client.get(visitor.url)).json as unknown[]).length).toBe(7);
      expect(requests.every((url) => url.startsWith(visitor.origin))).toBe(true);
    });

    test('the first list takes three requests', async () => {
      const requests: string[] = [];
      visitor.page.on('request', (request) => {
        if (!/\.(js|css)$|^data:/.test(request.url())) requests.push(request.url());
      });
      await visitor.goto(CHOICES);
      expect(requests).toHaveLength(3);
    });

    test('an object shows its related objects by their labels, and its lists with declared counts', async () => {
      const { page } = visitor;
      await visitor.goto(CHOICES);
      await visitor.click('link', 'Which day suits?');
      expect(await page.title()).toBe('Question: Which day suits?');
      await page.locator('.badge', { hasText: '5' }).waitFor();
      await visitor.click('link', 'Choices');
      expect(await visitor.column('Choice text')).toHaveLength(5);
      expect(await page.locator('.tabs a[aria-current=page]').innerText()).toBe('Choices');
    });

    test('an object counts a list without declared counts on request', async () => {
      const { page } = visitor;
      await visitor.goto('/rest/v1/library/book/1/');
      await visitor.click('button', /^Count /);
      await page.getByRole('listitem').filter({ hasText: 'Authors2' }).waitFor();
    });

    test('search, and columns that a reload keeps', async () => {
      const { page } = visitor;
      await visitor.goto(`${CHOICES}?search=sky`);
      expect(await visitor.column('Choice text')).toEqual(['The sky']);
      await visitor.goto(CHOICES);
      await page.locator('summary', { hasText: 'Columns' }).click();
      await page.getByRole('checkbox', { name: 'Votes' }).uncheck();
      expect(await page.getByRole('columnheader', { name: /Votes/ }).count()).toBe(0);
      await page.reload();
      await visitor.settle();
      expect(await page.getByRole('columnheader', { name: /Votes/ }).count()).toBe(0);
    });

    test('the request is shown as a command, and the schema in words', async () => {
      const { page } = visitor;
      await visitor.goto(`${CHOICES}1/`);
      await page.getByText('Request, as curl and fetch').click();
      expect(await page.locator('pre.code').first().innerText()).toContain(`${visitor.origin}${CHOICES}1/`);
      await page.getByText('Model', { exact: true }).click();
      expect(await page.getByRole('row', { name: /choice_text/ }).innerText()).toMatch(
        /at most 200 characters/,
      );
    });

    test('in German, where the browser prefers it', async () => {
      const german = await Visitor.open(browser, visitor.origin, { locale: 'de-AT' });
      await german.goto(CHOICES);
      await german.page.getByRole('button', { name: 'Anmelden' }).waitFor();
      expect(await german.page.locator('html').getAttribute('lang')).toBe('de');
      await german.page.context().close();
    });

    test('every model of the sample is shown to each user as to curl', async () => {
      const index = (await started.client.get('/')).json as Readonly<Record<string, string>>;
      const paths = Object.values(index);
      expect(paths.length).toBeGreaterThan(10);
      for (const user of [undefined, 'admin', 'clerk', 'scribe', 'planner', 'guest']) {
        const headers: Record<string, string> =
          user === undefined
            ? {}
            : { authorization: `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}` };
        await visitor.goto('/');
        if (user !== undefined) await visitor.logIn(user, user);
        for (const url of paths) {
          const path = url.replace(/^https?:\/\/[^/]+/, '');
          // The other desk models have their own credentials; the rest is open to everybody.
          if (user !== undefined && !path.includes('/desk/')) continue;
          const { status, json } = await started.client.get(path, { headers });
          await visitor.page.evaluate(
            `history.pushState({}, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'));`,
          );
          await visitor.settle();
          const problem = visitor.page.locator('.problem strong');
          if (status === 401) await visitor.page.getByText('This URL requires you to log in.').waitFor();
          else if (status >= 400)
            expect([user, path, await problem.innerText()]).toEqual([user, path, String(status)]);
          else {
            const rows = visitor.page.locator('main > .scroll table tbody tr');
            expect([user, path, await rows.count()]).toEqual([user, path, rowsOf(json)]);
          }
        }
        if (user !== undefined) await visitor.click('button', 'Log out');
      }
    });

    test('on a telephone nothing is wider than the screen', async () => {
      const phone = await Visitor.open(browser, visitor.origin, { viewport: { width: 360, height: 740 } });
      for (const path of ['/', CHOICES, `${CHOICES}1/`, '/rest/v1/polls/question/1/choices/']) {
        await phone.goto(path);
        expect([path, await phone.page.evaluate('document.documentElement.scrollWidth')]).toEqual([
          path,
          360,
        ]);
      }
      await phone.goto('/rest/v1/desk/ticket/');
      await phone.logIn('admin', 'admin');
      const body = phone.page.getByText('Again, and the detector is loud.', { exact: true });
      expect((await body.boundingBox())?.width).toBeGreaterThan(150);
      await phone.page.context().close();
    });

    test.each(['light', 'dark'] as const)('views are accessible in %s', async (colorScheme) => {
      for (const path of [
        '/',
        CHOICES,
        '/rest/v1/polls/question/1/',
        '/rest/v1/desk/ticket/',
        '/rest/v1/none/',
      ])
        expect([path, await findBarriers(browser, visitor.origin + path, { colorScheme })]).toEqual([
          path,
          [],
        ]);
    });

    test.each(['light', 'dark'] as const)('pictures for the documents in %s', async (colorScheme) => {
      if (PICTURES === undefined) return;
      mkdirSync(PICTURES, { recursive: true });
      const shot = await Visitor.open(browser, visitor.origin, {
        colorScheme,
        viewport: { width: 1120, height: 700 },
      });
      const take = async (name: string): Promise<void> => {
        const devtools = await shot.page.context().newCDPSession(shot.page);
        const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 85 });
        writeFileSync(join(PICTURES, `${name}-${colorScheme}.webp`), data, 'base64');
      };
      await shot.goto('/');
      await take('index');
      await shot.goto(`${CHOICES}?ordering=-votes`);
      await take('list');
      await shot.goto('/rest/v1/desk/ticket/1/');
      await shot.logIn('admin', 'admin');
      await take('object');
      await shot.click('button', 'Change');
      await shot.page.getByLabel(/^Subject/).fill('');
      await shot.submit('Save');
      await take('form');
      await shot.page.context().close();
    });
  });
});

/** The number of rows of an array or an envelope. */
function rowsOf(json: unknown): number {
  const rows = Array.isArray(json) ? json : (json as { readonly results: readonly unknown[] }).results;
  return rows.length;
}
