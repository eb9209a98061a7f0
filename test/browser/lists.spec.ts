// @tags db
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import {
  CsvRenderer,
  CursorPagination,
  LimitOffsetPagination,
  NdjsonRenderer,
  PageNumberPagination,
  Restify,
} from 'nestjs-restify';
import type { Browser } from 'playwright-core';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { openBrowser, RUNS_BROWSER, Visitor } from './open-browser.js';

const SHARED = {
  app: 'long',
  orderingFields: ['id'],
  filterFields: { votes: ['exact', 'gte', 'range', 'in'] },
} as const;
const ROWS = 1_205;

abstract class Numbered {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  votes: number;
}

@Restify({ ...SHARED, name: 'all', filterGroups: true, renderers: [new CsvRenderer(), new NdjsonRenderer()] })
@Entity('browser_number')
class All extends Numbered {}

@Restify({
  ...SHARED,
  name: 'pages',
  pagination: new PageNumberPagination({ pageSize: 10, maxPageSize: 100 }),
})
@Entity('browser_number', { synchronize: false })
class Pages extends Numbered {}

@Restify({
  ...SHARED,
  name: 'offsets',
  pagination: new LimitOffsetPagination({ pageSize: 10, maxPageSize: 200 }),
})
@Entity('browser_number', { synchronize: false })
class Offsets extends Numbered {}

@Restify({
  ...SHARED,
  name: 'cursors',
  pagination: new CursorPagination({ pageSize: 10, secret: 'a secret of the test, long enough' }),
})
@Entity('browser_number', { synchronize: false })
class Cursors extends Numbered {}

@Restify({
  ...SHARED,
  name: 'estimated',
  pagination: new PageNumberPagination({ pageSize: 10, countUpTo: 100, countParameter: 'count' }),
})
@Entity('browser_number', { synchronize: false })
class Estimated extends Numbered {}

@Restify({
  ...SHARED,
  name: 'headed',
  pagination: new PageNumberPagination({ pageSize: 10, style: 'headers', count: 'exact' }),
})
@Entity('browser_number', { synchronize: false })
class Headed extends Numbered {}

(RUNS_BROWSER ? describe : describe.skip)('long lists', () => {
  onEachDatabase(
    'in Chromium',
    (database) => {
      let started: StartedApp;
      let browser: Browser;
      let visitor: Visitor;
      beforeAll(async () => {
        started = await startApp({
          entities: [All, Pages, Offsets, Cursors, Estimated, Headed],
          database,
          compare: false,
          restify: { browsable: true },
        });
        await started.dataSource.manager.insert(
          All,
          Array.from({ length: ROWS }, (_, at) => ({ id: at + 1, votes: at % 10 })),
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

      const first = async (): Promise<string | undefined> => (await visitor.column('ID'))[0];
      const ends = async (): Promise<readonly (string | undefined)[]> => {
        const ids = await visitor.column('ID');
        return [ids[0], ids.at(-1)];
      };

      test('without pagination the first 1,000 rows are shown, with a note', async () => {
        await visitor.goto('/rest/v1/long/all/');
        expect(await ends()).toEqual(['1', '1000']);
        await visitor.page.getByText('The first 1000 objects.').waitFor();
      });

      test('page numbers: next, last, a typed page, and the size', async () => {
        const { page } = visitor;
        await visitor.goto('/rest/v1/long/pages/');
        expect(await ends()).toEqual(['1', '10']);
        await visitor.click('link', 'Next');
        expect([await first(), visitor.url]).toEqual(['11', '/rest/v1/long/pages/?page=2']);
        await page.getByRole('spinbutton', { name: 'Page number' }).fill('121');
        await visitor.click('button', 'Go');
        expect(await ends()).toEqual(['1201', '1205']);
        expect(await page.getByRole('link', { name: 'Next' }).count()).toBe(0);
        await page.getByLabel('Objects per page').selectOption('100');
        await visitor.settle();
        expect(await ends()).toEqual(['1', '100']);
        await page.goBack();
        await visitor.settle();
        expect(await ends()).toEqual(['1201', '1205']);
      });

      test('rows are shown before they are counted', async () => {
        const { page } = visitor;
        let release = (): void => undefined;
        const held = new Promise<void>((resolve) => (release = resolve));
        const preferences: unknown[] = [];
        await page.route(/\/long\/pages\//, async (route) => {
          const { accept = '', prefer } = route.request().headers();
          if (accept === 'application/json') preferences.push(prefer);
          if (accept === 'application/json' && prefer !== 'count=none') await held;
          await route.continue();
        });
        await page.goto(`http://127.0.0.1:${started.port}/rest/v1/long/pages/?page=2`);
        await page.getByText('10 objects', { exact: true }).waitFor();
        expect(await ends()).toEqual(['11', '20']);
        expect(await page.getByText('Page 2', { exact: true }).count()).toBe(1);
        release();
        await page.getByText('10 of 1205 objects').waitFor();
        await page.getByText('Page 2 of 121').waitFor();
        expect(preferences).toEqual(['count=none', 'count=estimated']);
      });

      test('many rows are counted up to a limit, and exactly on request', async () => {
        const { page } = visitor;
        await visitor.goto('/rest/v1/long/estimated/');
        await page.getByText(database.name === 'sqlite' ? '10 of 100 objects or more' : /^10 of /).waitFor();
        await page.getByText('Page 1', { exact: true }).waitFor();
        await visitor.click('link', 'Count');
        await page.getByText('10 of 1205 objects').waitFor();
        expect(visitor.url).toBe('/rest/v1/long/estimated/?count=exact');
        await page.getByText('Page 1 of 121').waitFor();
        expect(await page.getByRole('link', { name: 'Count', exact: true }).count()).toBe(0);
      });

      test('with headers, the last page is linked when the rows are counted', async () => {
        await visitor.goto('/rest/v1/long/headed/?page=3');
        await visitor.click('link', 'Last');
        expect([await ends(), visitor.url]).toEqual([['1201', '1205'], '/rest/v1/long/headed/?page=121']);
      });

      test('a list that fits on its page is not counted by another request', async () => {
        const { page } = visitor;
        const sent: string[] = [];
        page.on('request', (request) => {
          if (request.headers().accept === 'application/json') sent.push(new URL(request.url()).search);
        });
        await visitor.goto('/rest/v1/long/offsets/?votes=3&limit=150');
        await page.getByText('121 objects', { exact: true }).waitFor();
        expect(sent).toEqual(['?votes=3&limit=150']);
      });

      test('offsets: next and previous', async () => {
        await visitor.goto('/rest/v1/long/offsets/');
        await visitor.click('link', 'Next');
        await visitor.click('link', 'Next');
        expect(await ends()).toEqual(['21', '30']);
        await visitor.click('link', 'Previous');
        expect(await ends()).toEqual(['11', '20']);
      });

      test('cursors: next and previous, also in another order', async () => {
        await visitor.goto('/rest/v1/long/cursors/?votes__gte=8');
        await visitor.click('link', 'Next');
        expect(await first()).toBe('59');
        await visitor.click('link', 'Previous');
        expect(await first()).toBe('9');
      });

      test('filters of every kind, and alternatives', async () => {
        const { page } = visitor;
        await visitor.goto('/rest/v1/long/all/');
        await page.getByText('Filters', { exact: true }).click();
        await page.getByLabel('Comparison').selectOption({ label: 'is between' });
        await page.getByLabel('From').fill('3');
        await page.getByLabel('To', { exact: true }).fill('4');
        await visitor.click('button', 'Apply');
        expect(visitor.url).toBe('/rest/v1/long/all/?votes__range=3,4');
        expect((await visitor.column('ID')).slice(0, 3)).toEqual(['4', '5', '14']);
        await visitor.click('link', /^Remove the filter/);
        await page.getByText('Filters', { exact: true }).click();
        await page.getByLabel('Comparison').selectOption({ label: 'is one of' });
        await page.getByLabel('Value').fill('1,9');
        await page.getByRole('button', { name: 'Add as alternative (or)' }).click();
        await page.getByLabel('Comparison').selectOption({ label: 'equals' });
        await page.getByLabel('Value').fill('5');
        await visitor.click('button', 'Apply');
        expect((await visitor.column('ID')).slice(0, 3)).toEqual(['2', '6', '10']);
      });

      test('the filtered list is saved as CSV and NDJSON', async () => {
        const { page } = visitor;
        await visitor.goto('/rest/v1/long/all/?votes=7');
        await page.getByText('Download').first().click();
        for (const [format, lines] of [
          ['CSV', 121],
          ['NDJSON', 120],
        ] as const) {
          const saved = page.waitForEvent('download');
          await page.getByRole('button', { name: `Download as ${format}` }).click();
          const file = await saved;
          expect(file.suggestedFilename()).toMatch(
            new RegExp(`^all-\\d{4}-\\d\\d-\\d\\d\\.${format.toLowerCase()}$`),
          );
          const text = readFileSync(await file.path(), 'utf8');
          expect(text.trimEnd().split('\n')).toHaveLength(lines);
        }
      });

      test('a request that takes longer than a second shows a note, and can be cancelled and repeated', async () => {
        const { page } = visitor;
        await visitor.goto('/');
        let isSlow = true;
        await page.route('**/long/pages/**', async (route) => {
          if (isSlow) await new Promise((resolve) => setTimeout(resolve, 5_000));
          await route.continue().catch(() => undefined);
        });
        await page.getByRole('link', { name: 'Pages' }).click();
        await page.getByRole('button', { name: 'Cancel' }).click();
        await page.getByText('Cancelled.').waitFor();
        isSlow = false;
        await visitor.click('button', 'Try again');
        expect(await first()).toBe('1');
      });

      test('the keyboard alone leads from the index to an object', async () => {
        const { page } = visitor;
        await visitor.goto('/');
        await page.keyboard.press('Tab');
        expect(await page.locator(':focus').innerText()).toBe('Skip to the content');
        await page.keyboard.press('Enter');
        const moveTo = async (label: string): Promise<void> => {
          const focused = page.locator(':focus');
          for (let steps = 0; steps < 30; steps += 1) {
            await page.keyboard.press('Tab');
            if ((await focused.getAttribute('aria-label')) === label || (await focused.innerText()) === label)
              return;
          }
          throw new Error(`The keyboard does not reach ${label}`);
        };
        await moveTo('Pages');
        await page.keyboard.press('Enter');
        await visitor.settle();
        expect(visitor.url).toBe('/rest/v1/long/pages/');
        await moveTo('Open 1');
        await page.keyboard.press('Enter');
        await visitor.settle();
        expect(visitor.url).toBe('/rest/v1/long/pages/1/');
        await page.goBack();
        await visitor.settle();
        expect(visitor.url).toBe('/rest/v1/long/pages/');
      });
    },
    ['sqlite', 'postgres'],
  );
});
