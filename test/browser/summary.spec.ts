// @tags db
import { afterAll, afterEach, beforeAll, describe, beforeEach, expect, test } from '@jest/globals';
import type { Browser, Locator } from 'playwright-core';
import { CsvRenderer, PageNumberPagination, Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { findBarriers, openBrowser, RUNS_BROWSER, Visitor } from './open-browser.js';

@Restify({ app: 'sums', label: 'name', counts: ['sales'] })
@Entity('browser_branch')
class Branch {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 80 }) name: string;
  @OneToMany(() => Sale, (sale) => sale.branch) sales: Relation<Sale[]>;
}

@Restify({
  app: 'sums',
  labels: { one: 'Sale', many: 'Sales' },
  aggregate: { group: ['state', 'branch', 'sold', 'serial'], sum: ['total'], avg: ['total'], max: ['sold'] },
  filterFields: { state: ['exact'], total: ['gte'] },
  ordering: ['id'],
  renderers: [new CsvRenderer()],
})
@Entity('browser_sale')
class Sale {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 60 }) state: string;
  @Column({ type: 'int' }) serial: number;
  @Column({ type: 'decimal', precision: 10, scale: 2 }) total: string;
  @Column({ type: 'datetime' }) sold: Date;
  @ManyToOne(() => Branch, (branch) => branch.sales, { nullable: true }) branch: Relation<Branch> | null;
}

@Restify({
  app: 'sums',
  aggregate: { group: ['word'], minGroup: 2 },
  pagination: new PageNumberPagination({ pageSize: 2 }),
})
@Entity('browser_vote')
class Vote {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) word: string;
}

const SALES = '/rest/v1/sums/sale/';
const VOTES = '/rest/v1/sums/vote/';
const ATTACK = '<img src=x onerror=alert(1)><b>bold</b>';

(RUNS_BROWSER ? describe : describe.skip)('summaries on the page', () => {
  onEachDatabase(
    'in Chromium',
    (database) => {
      let started: StartedApp;
      let browser: Browser;
      let visitor: Visitor;
      let branch: Branch;
      beforeAll(async () => {
        started = await startApp({
          entities: [Branch, Sale, Vote],
          database,
          compare: false,
          restify: { browsable: true },
        });
        browser = await openBrowser();
        const { manager } = started.dataSource;
        branch = await manager.save(Branch, { name: ATTACK });
        const sale = (state: string, total: string, sold: string, own: Branch | null): object => ({
          state,
          total,
          sold: new Date(sold),
          branch: own,
          serial: Number(total.slice(0, 1)),
        });
        await manager.save(Sale, [
          sale('paid', '10.10', '2026-01-05T10:00:00Z', branch),
          sale('paid', '0.20', '2026-02-05T10:00:00Z', branch),
          sale('draft', '5.00', '2026-04-30T23:30:00Z', null),
          sale(`a\u202Eb${ATTACK}`, '7.00', '2026-04-05T10:00:00Z', null),
        ]);
        for (const word of ['a', 'a', 'b', 'b', 'c', 'd', 'd']) await manager.save(Vote, { word });
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

      const select = (label: string): Locator =>
        visitor.page.locator('label', { hasText: label }).locator('select').first();
      const choose = async (label: string, option: string): Promise<void> => {
        await select(label).selectOption({ label: option });
        await visitor.settle();
      };
      const charts = (): Locator => visitor.page.getByRole('img');

      test('a list leads to its summary, whose URL is that of the API, with its filters', async () => {
        const { page } = visitor;
        await visitor.goto(`${SALES}?total__gte=1&ordering=-id`);
        await visitor.click('link', 'Summary');
        expect(visitor.url).toBe(`${SALES}?total__gte=1&aggregate=count&group=state`);
        expect(await page.title()).toBe('Sales: summary');
        expect(await visitor.column('Count')).toEqual(['1', '1', '1']);
        expect(await page.getByText('Groups: 3').count()).toBe(1);
        expect(await page.getByText('does not know').count()).toBe(0);
        await page.reload();
        await visitor.settle();
        expect(await visitor.column('State')).toContain('paid');
        await visitor.click('link', 'Show as a list');
        expect(visitor.url).toBe(`${SALES}?total__gte=1`);
      });

      test('bars of several measures, with a legend', async () => {
        const { page } = visitor;
        await visitor.goto(`${SALES}?aggregate=count&group=state&state=paid`);
        await page.locator('summary', { hasText: 'Measures' }).click();
        await page.getByRole('checkbox', { name: 'Sum of Total' }).click();
        await visitor.settle();
        expect(visitor.url).toBe(`${SALES}?aggregate=count,sum.total&group=state&state=paid`);
        expect(await visitor.column('Sum of Total')).toEqual(['10.30']);
        expect(await charts().count()).toBe(2);
        expect(await charts().last().getAttribute('aria-label')).toBe(
          'Sum of Total by State, 1 groups: from 10.30 (paid) to 10.30 (paid). The table has all values.',
        );
        expect(await charts().last().locator('rect').getAttribute('width')).toBe('100%');
      });

      test('a line over time, in a zone and by a unit that can be chosen, with a gap where nothing was', async () => {
        await visitor.goto(`${SALES}?aggregate=count&group=state`);
        await choose('Group by', 'Sold');
        expect(visitor.url).toBe(`${SALES}?aggregate=count&group=sold:month&tz=Europe/Berlin`);
        expect(await visitor.column('Sold (month)')).toEqual([
          'January 2026',
          'February 2026',
          'April 2026',
          'May 2026',
        ]);
        const line = charts().first();
        expect(await line.locator('circle').count()).toBe(4);
        expect(await line.locator('g:not(.tick) > line').count()).toBe(2);
        await choose('Time zone', 'UTC');
        expect(await visitor.column('Count')).toEqual(['1', '1', '2']);
        await choose('Unit', 'hour');
        expect(await visitor.column('Sold (hour)')).toContain('Apr 30, 2026, 23:00 Z');
        await choose('Unit', 'quarter');
        expect(await visitor.column('Sold (quarter)')).toEqual(['2026 Q1', '2026 Q2']);
        await choose('Group by', '—');
        expect(visitor.url).toBe(`${SALES}?aggregate=count`);
        expect(await visitor.column('Count')).toEqual(['4']);
        expect(await charts().count()).toBe(0);
      });

      test('groups have labels and an order, and texts of others are texts', async () => {
        const { page } = visitor;
        await visitor.goto(`${SALES}?aggregate=count&group=state`);
        await choose('and by', 'Branch');
        expect(visitor.url).toBe(`${SALES}?aggregate=count&group=state,branch:label`);
        expect(await visitor.column('Branch')).toEqual(['null', 'null', ATTACK]);
        expect(await visitor.column('State')).toEqual([`a‹U+202E›b${ATTACK}`, 'draft', 'paid']);
        await page.locator('figure text', { hasText: 'paid, <img src=x' }).waitFor();
        expect(await page.locator('main img, main b').count()).toBe(0);
        await visitor.click('link', 'Order by Count');
        expect(visitor.url).toContain('ordering=count');
        await visitor.click('link', 'Order by Count');
        expect(visitor.url).toContain('ordering=-count');
        expect(await visitor.column('Count')).toEqual(['2', '1', '1']);
        await visitor.click('link', ATTACK);
        expect(await page.title()).toBe(`Branch: ${ATTACK}`);
        await visitor.click('link', /Sales: summary/);
        expect(visitor.url).toContain('ordering=-count');
      });

      test('the list below an object has one, too', async () => {
        await visitor.goto(`/rest/v1/sums/branch/${branch.id}/sales/`);
        await visitor.click('link', 'Summary');
        expect(await visitor.column('State')).toEqual(['paid']);
        expect(await visitor.page.locator('.tabs a[aria-current=page]').innerText()).toBe('Sales');
      });

      test('relation columns and tabs show counts, as links to the lists', async () => {
        const { page } = visitor;
        await visitor.goto('/rest/v1/sums/branch/');
        expect(await visitor.column('Sales')).toEqual(['2']);
        expect((await page.getByRole('columnheader').allInnerTexts()).join()).toMatch(/^ID.*Name.*Sales$/);
        await visitor.click('link', 'sales: 2');
        expect(visitor.url).toBe(`/rest/v1/sums/branch/${branch.id}/sales/`);
        await visitor.goto(`/rest/v1/sums/branch/${branch.id}/`);
        expect(await page.locator('.tabs .badge').innerText()).toBe('2');
        expect(await page.locator('dd').allInnerTexts()).toEqual([String(branch.id), ATTACK, '2']);
      });

      test('an error of the API is shown, and can be repaired where it was made', async () => {
        const { page } = visitor;
        await visitor.goto(`${SALES}?aggregate=sum.totals&group=state&having.count__gte=1`);
        await page.getByText('There is no such aggregate: "sum.totals". Did you mean "sum.total"?').waitFor();
        await page.locator('summary', { hasText: 'Measures' }).click();
        await page.getByRole('checkbox', { name: 'Average of Total' }).click();
        await visitor.settle();
        expect(visitor.url).toBe(`${SALES}?aggregate=avg.total&group=state&having.count__gte=1`);
        expect(await page.locator('.problem').count()).toBe(0);
        await visitor.click('link', 'Remove the filter count__gte=1');
        expect(visitor.url).toBe(`${SALES}?aggregate=avg.total&group=state`);
      });

      test('pages of groups, and small groups that are left out', async () => {
        const { page } = visitor;
        await visitor.goto(VOTES);
        await visitor.click('link', 'Summary');
        expect(await visitor.column('Word')).toEqual(['a', 'b']);
        await page.getByText('Groups: 3').waitFor();
        await page.getByText('Groups of fewer than 2 objects are left out.').waitFor();
        await visitor.click('link', 'Next');
        expect(await visitor.column('Word')).toEqual(['d']);
      });

      test('is downloaded as a table', async () => {
        const { page } = visitor;
        await visitor.goto(`${SALES}?aggregate=sum.total&group=state&state=paid`);
        await page.locator('summary', { hasText: 'Download' }).click();
        const downloaded = page.waitForEvent('download');
        await page.getByRole('button', { name: 'Download as CSV' }).click();
        const stream = await (await downloaded).createReadStream();
        const parts: Buffer[] = [];
        for await (const part of stream) parts.push(part as Buffer);
        expect(Buffer.concat(parts).toString()).toMatch(/state,sum\.total\r?\npaid,10\.30/);
      });

      test.each(['light', 'dark'] as const)(
        'is accessible in %s, and fits a telephone',
        async (colorScheme) => {
          const paths = [`group=state,branch:label&ordering=-count`, 'group=sold:month', 'group=nothing'];
          for (const path of paths) {
            const url = `${visitor.origin}${SALES}?aggregate=count,sum.total&${path}`;
            expect([path, await findBarriers(browser, url, { colorScheme })]).toEqual([path, []]);
          }
          const phone = await Visitor.open(browser, visitor.origin, {
            colorScheme,
            viewport: { width: 360, height: 740 },
          });
          for (const path of paths) {
            await phone.goto(`${SALES}?aggregate=count,sum.total&${path}`);
            expect([path, await phone.page.evaluate('document.documentElement.scrollWidth')]).toEqual([
              path,
              360,
            ]);
          }
          await phone.page.context().close();
        },
      );
    },
    ['sqlite'],
  );
});
