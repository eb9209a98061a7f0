// @tags db
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Locator } from 'playwright-core';
import { Restify } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { findBarriers, openBrowser, RUNS_BROWSER, Visitor } from './open-browser.js';

@Restify({
  app: 'forms',
  label: 'customer',
  nested: ['lines', 'address'],
  relatedKeys: ['labels_of'],
})
@Entity('browser_bill')
class Bill {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 40 }) customer: string;
  @OneToMany(() => BillLine, (line) => line.bill) lines: Relation<BillLine[]>;
  @OneToOne(() => BillAddress, (address) => address.bill) address: Relation<BillAddress> | null;
  @ManyToMany(() => BillLabel, (label) => label.bills)
  @JoinTable({
    name: 'browser_bill_label',
    joinColumn: { name: 'bill_id' },
    inverseJoinColumn: { name: 'label_id' },
    synchronize: false,
  })
  labels_of: Relation<BillLabel[]>;
}

@Restify({ app: 'forms', label: 'article', labels: { one: 'bill line', many: 'bill lines' } })
@Entity('browser_bill_line')
class BillLine {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) article: string;
  @Column({ type: 'int', default: 1 }) amount: number;
  @ManyToOne(() => Bill, (bill) => bill.lines, { nullable: false, onDelete: 'CASCADE' }) bill: Relation<Bill>;
}

@Restify({ app: 'forms', label: 'town', labels: { one: 'bill address', many: 'bill addresses' } })
@Entity('browser_bill_address')
class BillAddress {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) town: string;
  @OneToOne(() => Bill, (bill) => bill.address, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn()
  bill: Relation<Bill>;
}

@Restify({ app: 'forms', label: 'name', searchFields: ['name'] })
@Entity('browser_label')
class BillLabel {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 40 }) name: string;
  @ManyToMany(() => Bill, (bill) => bill.labels_of) bills: Relation<Bill[]>;
}

@Restify('forms')
@Unique(['bill', 'label'])
@Entity('browser_bill_label')
class BillLabelling {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Bill, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'bill_id' })
  bill: Relation<Bill>;
  @ManyToOne(() => BillLabel, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'label_id' })
  label: Relation<BillLabel>;
}

const BILLS = '/rest/v1/forms/bill/';

(RUNS_BROWSER ? describe : describe.skip)('objects in forms', () => {
  onEachDatabase(
    'in Chromium',
    (database) => {
      let started: StartedApp;
      let browser: Browser;
      let visitor: Visitor;
      const names = (): Promise<readonly { readonly customer: string }[]> =>
        started.dataSource.manager.find(Bill);
      const lines = async (): Promise<readonly string[]> =>
        (await started.dataSource.manager.find(BillLine, { order: { id: 'ASC' } })).map(
          ({ article, amount }) => `${article} ${amount}`,
        );
      beforeAll(async () => {
        started = await startApp({
          entities: [Bill, BillLine, BillAddress, BillLabel, BillLabelling],
          database,
          compare: false,
          restify: { browsable: true },
        });
        browser = await openBrowser();
      });
      beforeEach(async () => {
        const { manager } = started.dataSource;
        for (const entity of [BillLabelling, BillLine, BillAddress, Bill, BillLabel])
          await manager.createQueryBuilder().delete().from(entity).execute();
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

      /** The fields of a child, by what stands above them. */
      const child = (title: string | RegExp, at = 0): Locator =>
        visitor.page.locator('fieldset', { has: visitor.page.locator('legend', { hasText: title }) }).nth(at);
      const press = async (name: string | RegExp): Promise<void> => {
        await visitor.page
          .locator('.form')
          .last()
          .getByRole('button', { name, exact: typeof name === 'string' })
          .first()
          .click();
        await visitor.settle();
      };
      const body = async (method: string, action: () => Promise<void>): Promise<unknown> => {
        const sent = visitor.page.waitForRequest((request) => request.method() === method);
        await action();
        return (await sent).postDataJSON() as unknown;
      };

      test('new ones are created with their parent, after an error was repaired beside its field', async () => {
        const { page } = visitor;
        await visitor.goto(BILLS);
        await visitor.click('button', /^New /);
        await visitor.field(/^Customer/).fill('Ann');
        for (const _each of [1, 2, 3]) await press('Add bill line');
        await child('New bill line', 0)
          .getByLabel(/^Article/)
          .fill('tea');
        await child('New bill line', 2)
          .getByLabel(/^Article/)
          .fill('milk');
        await press('Remove');
        await visitor.submit(/^Create /);
        const wrong = child('New bill line', 0).getByLabel(/^Article/);
        await child('New bill line', 0).getByText('This field is required.').waitFor();
        expect(await wrong.getAttribute('aria-invalid')).toBe('true');
        expect(await wrong.evaluate('document.activeElement.getAttribute("aria-invalid")')).toBe('true');
        expect(await child('New bill line', 1).getByText('This field is required.').count()).toBe(0);
        expect(await names()).toEqual([]);
        await wrong.fill('rice');
        await child('New bill line', 0)
          .getByLabel(/^Amount/)
          .fill('3');
        await press('Add bill address');
        await child('New bill address').getByLabel(/^Town/).fill('Graz');
        expect(await page.getByRole('button', { name: 'Add bill address' }).count()).toBe(0);
        expect(await body('POST', () => visitor.submit(/^Create /))).toEqual({
          customer: 'Ann',
          lines: [{ article: 'rice', amount: 3 }, { article: 'milk' }],
          address: { town: 'Graz' },
        });
        await page.getByText('Created.').waitFor();
        expect(await lines()).toEqual(['rice 3', 'milk 1']);
      });

      test('those that are there are changed, deleted and joined by others; what was not touched is not sent', async () => {
        const { page } = visitor;
        const { manager } = started.dataSource;
        const bill = await manager.save(Bill, { customer: 'Ann' });
        const [tea, milk] = await manager.save(BillLine, [
          { article: 'tea', bill },
          { article: '<b>milk</b>', amount: 2, bill },
          { article: 'salt', bill },
        ]);
        const address = await manager.save(BillAddress, { town: 'Graz', bill });
        await visitor.goto(`${BILLS}${bill.id}/`);
        await visitor.click('button', 'Change');
        expect(await page.locator('main b').count()).toBe(0);
        await press('Change: <b>milk</b>');
        const changed = child('<b>milk</b>');
        expect(await changed.getByLabel(/^Article/).inputValue()).toBe('<b>milk</b>');
        await changed.getByLabel(/^Article/).fill('');
        await press('Delete: salt');
        await press('Keep: salt');
        await press('Delete: tea');
        await press('Add bill line');
        await child('New bill line')
          .getByLabel(/^Article/)
          .fill('rice');
        await press('Change: Graz');
        await child('Graz').getByLabel(/^Town/).fill('Linz');
        await visitor.submit('Save');
        await changed.getByText('This field may not be blank.').waitFor();
        expect(await lines()).toHaveLength(3);
        await changed.getByLabel(/^Article/).fill('cream');
        await changed.getByLabel(/^Amount/).fill('5');
        expect(await body('PATCH', () => visitor.submit('Save'))).toEqual({
          lines: {
            create: [{ article: 'rice' }],
            update: [{ id: milk?.id, article: 'cream', amount: 5 }],
            delete: [tea?.id],
          },
          address: { update: { town: 'Linz' } },
        });
        await page.getByText('Saved.').waitFor();
        expect(await lines()).toEqual(['cream 5', 'salt 1', 'rice 1']);
        expect((await manager.findOneByOrFail(BillAddress, { id: address.id })).town).toBe('Linz');

        await visitor.click('button', 'Change');
        await press('Delete: Linz');
        expect(await body('PATCH', () => visitor.submit('Save'))).toEqual({ address: { delete: true } });
        expect(await manager.count(BillAddress)).toBe(0);
      });

      test('what was typed survives a reload, and what was discarded is not sent', async () => {
        const { page } = visitor;
        const { manager } = started.dataSource;
        const bill = await manager.save(Bill, { customer: 'Ann' });
        await manager.save(BillLine, { article: 'tea', bill });
        await visitor.goto(`${BILLS}${bill.id}/`);
        await visitor.click('button', 'Change');
        await press('Change: tea');
        await child('tea')
          .getByLabel(/^Amount/)
          .fill('7');
        await press('Add bill line');
        await page.reload();
        await visitor.settle();
        expect(
          await child('tea')
            .getByLabel(/^Amount/)
            .inputValue(),
        ).toBe('7');
        await child('New bill line').getByRole('button', { name: 'Remove' }).click();
        await child('tea').getByRole('button', { name: 'Discard' }).click();
        await visitor.submit('Save');
        await page.getByText('Nothing was changed.').waitFor();
      });

      test('related keys are chosen by their labels, and what others have added stays', async () => {
        const { page } = visitor;
        const { manager } = started.dataSource;
        const bill = await manager.save(Bill, { customer: 'Ann' });
        const [urgent, paid, old] = await manager.save(
          BillLabel,
          ['urgent', 'paid', '<i>old</i>'].map((name) => ({ name })),
        );
        await manager.save(BillLabelling, [
          { bill, label: urgent },
          { bill, label: old },
        ]);
        await visitor.goto(`${BILLS}${bill.id}/`);
        await visitor.click('button', 'Change');
        const chips = page.locator('.form .chips li bdi');
        await chips.filter({ hasText: 'urgent' }).waitFor();
        expect(await chips.allInnerTexts()).toEqual(['urgent', '<i>old</i>']);
        await press('Remove <i>old</i>');
        const search = page.locator('.form').getByRole('combobox');
        await search.fill('pai');
        await page.getByRole('option', { name: /paid/ }).click();
        await visitor.settle();
        expect(await chips.allInnerTexts()).toEqual(['urgent', 'paid']);
        expect(await body('PATCH', () => visitor.submit('Save'))).toEqual({
          labels_of: { add: [String(paid?.id)], remove: [String(old?.id)] },
        });
        await page.getByText('Saved.').waitFor();
        await visitor.goto(BILLS);
        await visitor.click('button', /^New /);
        await visitor.field(/^Customer/).fill('Bea');
        await page.locator('.form').getByRole('combobox').fill('urg');
        await page.getByRole('option', { name: /urgent/ }).click();
        expect(await body('POST', () => visitor.submit(/^Create /))).toEqual({
          customer: 'Bea',
          labels_of: [String(urgent?.id)],
        });
        await page.getByText('Created.').waitFor();
      });

      test('the form is accessible, and fits a telephone', async () => {
        const bill = await started.dataSource.manager.save(Bill, { customer: 'Ann' });
        await started.dataSource.manager.save(BillLine, { article: 'tea', bill });
        const url = `${visitor.origin}${BILLS}${bill.id}/`;
        const barriers = await findBarriers(browser, url, {
          viewport: { width: 360, height: 740 },
          prepare: async (page) => {
            await page.getByRole('button', { name: 'Change', exact: true }).click();
            await page.getByRole('button', { name: 'Change: tea' }).click();
            await page.getByRole('button', { name: 'Add bill line' }).click();
            expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
          },
        });
        expect(barriers).toEqual([]);
      });
    },
    ['sqlite'],
  );
});
