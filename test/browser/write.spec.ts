// @tags db http
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import {
  Brand,
  Code,
  ENTITIES,
  Order,
  Part,
  PHOTOS,
  Placement,
  Shelf,
  Ware,
  WareController,
} from './models.js';
import { findBarriers, openBrowser, RUNS_BROWSER, Visitor } from './open-browser.js';

const WARES = '/rest/v1/shop/ware/';

(RUNS_BROWSER ? describe : describe.skip)('writing on the page', () => {
  onEachDatabase(
    'in Chromium',
    (database) => {
      let started: StartedApp;
      let browser: Browser;
      let visitor: Visitor;
      beforeAll(async () => {
        started = await startApp({
          entities: [...ENTITIES, PHOTOS[database.name]],
          controllers: [WareController],
          database,
          compare: false,
          restify: { browsable: true },
        });
        browser = await openBrowser();
      });
      beforeEach(async () => {
        const { manager } = started.dataSource;
        for (const entity of [Order, Part, Placement, Shelf, Ware, Brand, Code, PHOTOS[database.name]])
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

      const rows = <Entity extends object>(entity: new () => Entity): Promise<Entity[]> =>
        started.dataSource.manager.find(entity);
      const saveWare = (values: Partial<Ware> = {}): Promise<Ware> =>
        started.dataSource.manager.save(Ware, { title: 'Chair', ...values });
      const openList = async (): Promise<void> => {
        await visitor.goto(WARES);
        await visitor.logIn('ann');
      };
      const openWare = async (id: number): Promise<void> => {
        await visitor.goto(`${WARES}${id}/`);
        await visitor.logIn('ann');
      };

      test('an anonymous visitor gets no buttons to write', async () => {
        await visitor.goto(WARES);
        expect(await visitor.page.getByRole('button', { name: /^New / }).count()).toBe(0);
        await visitor.logIn('ann');
        expect(await visitor.page.getByRole('button', { name: /^New / }).count()).toBe(1);
      });

      test('an object is created: errors stand at their fields, the first is focused, and nothing typed is lost', async () => {
        const brand = await started.dataSource.manager.save(Brand, { name: 'Acme' });
        await openList();
        const { page } = visitor;
        await visitor.click('button', /^(New|Add to) /);
        await visitor.field('Price').fill('cheap');
        await visitor.field('Extra').fill('{"a": ');
        await visitor.submit(/^(Create|Add to) /);
        expect(await page.locator('.errors').allInnerTexts()).toEqual([expect.stringMatching(/JSON/)]);
        await visitor.field('Extra').fill('{"a": [1, null]}');
        await visitor.submit(/^(Create|Add to) /);
        const title = visitor.field(/^Title/);
        expect(await title.getAttribute('aria-invalid')).toBe('true');
        expect(await page.locator('[aria-invalid]:focus').count()).toBe(1);
        expect(await page.locator(':focus').getAttribute('id')).toBe(await title.getAttribute('id'));
        expect(await page.locator('.errors').count()).toBe(2);
        expect(await visitor.field('Price').inputValue()).toBe('cheap');
        await title.fill('Table');
        await visitor.field('Stock').fill('12');
        await visitor.field('Price').fill('19.90');
        await visitor.field('Serial').fill('9007199254740993');
        await visitor.field('Sold').selectOption({ label: 'no' });
        await visitor.field('State').selectOption({ label: 'used' });
        await visitor.field('Made').fill('2026-01-31');
        await visitor.field('Seen').fill('2026-06-01T12:30');
        await page.getByRole('combobox', { name: 'Brand' }).focus();
        await page.getByRole('option', { name: 'Acme' }).click();
        await visitor.submit(/^(Create|Add to) /);
        const [ware] = await started.dataSource.manager.find(Ware, { relations: { brand: true } });
        expect(ware).toMatchObject({
          title: 'Table',
          note: null,
          stock: 12,
          state: 'used',
          extra: { a: [1, null] },
          brand: { id: brand.id },
        });
        expect(Number(ware?.price)).toBe(19.9);
        // The visitor is in Berlin.
        expect(ware?.seen.toISOString()).toBe('2026-06-01T10:30:00.000Z');
        expect(visitor.url).toBe(`${WARES}${ware?.id ?? 0}/`);
        await page.getByText('Created.').waitFor();
        await page.getByText('9007199254740993', { exact: true }).waitFor();
      });

      test('a date without its time is not sent, and stays in the form', async () => {
        await openList();
        const { page } = visitor;
        const sent: unknown[] = [];
        page.on('request', (request) => {
          if (request.method() === 'POST') sent.push(request.postDataJSON());
        });
        await visitor.click('button', /^(New|Add to) /);
        const seen = visitor.field('Seen');
        await seen.focus();
        await page.keyboard.type('06012026');
        await visitor.submit(/^(Create|Add to) /);
        expect(sent).toEqual([]);
        expect(await seen.evaluate('document.activeElement.validity.badInput')).toBe(true);
        await seen.fill('2026-06-01T12:30');
        await visitor.submit(/^(Create|Add to) /);
        expect(sent).toEqual([expect.objectContaining({ seen: '2026-06-01T10:30:00.000Z' })]);
      });

      test('touched fields are sent, null differs from empty, and untouched fields are not sent', async () => {
        const { id } = await saveWare({ note: 'old', stock: 5, sold: true });
        await openWare(id);
        const { page } = visitor;
        await visitor.click('button', 'Change');
        await visitor.field('Note').fill('');
        await visitor.field('Sold').selectOption({ label: 'null' });
        const sent = page.waitForRequest((request) => request.method() === 'PATCH');
        await visitor.submit('Save');
        expect((await sent).postDataJSON()).toEqual({ note: '', sold: null });
        expect((await rows(Ware))[0]).toMatchObject({ note: '', sold: null, stock: 5 });
        await page.getByText('Saved.').waitFor();
        await visitor.click('button', 'Change');
        await page.getByRole('checkbox', { name: 'null' }).check();
        await visitor.submit('Save');
        expect((await rows(Ware))[0]).toMatchObject({ note: null });
        await visitor.click('button', 'Change');
        await visitor.submit('Save');
        await page.getByText('Nothing was changed.').waitFor();
      });

      test('numbers of JSON keep their digits, though the browser cannot represent them', async () => {
        const { id } = await saveWare();
        const table = started.dataSource.driver.escape(started.dataSource.getMetadata(Ware).tableName);
        await started.dataSource.query(`UPDATE ${table} SET extra = '{"n":12345678901234567890,"one":1.0}'`);
        await openWare(id);
        const { page } = visitor;
        expect(await page.locator('pre.json').first().innerText()).toBe(
          '{\n  "n": 12345678901234567890,\n  "one": 1.0\n}',
        );
        await visitor.click('button', 'Change');
        const extra = visitor.field('Extra');
        expect(await extra.inputValue()).toBe('{\n  "n": 12345678901234567890,\n  "one": 1.0\n}');
        await extra.fill('{"n": 12345678901234567891, "one": 1.00}');
        const sent = page.waitForRequest((request) => request.method() === 'PATCH');
        await visitor.submit('Save');
        expect((await sent).postData()).toBe('{"extra":{"n":12345678901234567891,"one":1.00}}');
        await page.getByText('Saved.').waitFor();
        expect(await started.dataSource.query(`SELECT extra FROM ${table}`)).toEqual([
          { extra: '{"n":12345678901234567891,"one":1.00}' },
        ]);
      });

      test('of two users who change one object, the second resolves the conflict by field', async () => {
        const { id } = await saveWare({ note: 'read', stock: 1 });
        await openWare(id);
        const { page } = visitor;
        await visitor.click('button', 'Change');
        await visitor.field(/^Title/).fill('Mine');
        await visitor.field('Note').fill('my note');
        const other = await Visitor.open(browser, visitor.origin);
        await other.goto(`${WARES}${id}/`);
        await other.logIn('ben');
        await other.click('button', 'Change');
        await other.field(/^Title/).fill('Theirs');
        await other.field('Stock').fill('7');
        await other.submit('Save');
        await other.page.context().close();
        await visitor.submit('Save');
        await page.getByText('Somebody else has changed this object').waitFor();
        expect(await page.locator('.conflict tbody tr').allInnerTexts()).toEqual([
          expect.stringMatching(/Title\s+Chair\s+Theirs\s+Mine/),
          expect.stringMatching(/Note\s+read\s+read\s+my note/),
          expect.stringMatching(/Stock\s+1\s+7/),
        ]);
        await page.getByRole('row', { name: /Title/ }).getByRole('radio').first().check();
        await page.getByRole('button', { name: 'Save this choice' }).click();
        await visitor.settle();
        await page.getByText('Saved.').waitFor();
        expect((await rows(Ware))[0]).toMatchObject({ title: 'Theirs', note: 'my note', stock: 7 });
      });

      test('what was typed survives a lost connection, an expired login, and Back', async () => {
        const { id } = await saveWare();
        await openWare(id);
        const { page } = visitor;
        await visitor.click('button', 'Change');
        await visitor.field(/^Title/).fill('Typed');
        await page.route('**/*', (route) =>
          route.request().method() === 'PATCH' ? route.abort() : route.continue(),
        );
        await visitor.submit('Save');
        await page.getByText('What you typed is kept').waitFor();
        await page.unroute('**/*');
        // The credentials are refused from now on.
        await page.route('**/*', (route) =>
          route.request().method() === 'PATCH'
            ? route.continue({
                headers: { ...route.request().headers(), authorization: 'Basic YW5uOm9sZA==' },
              })
            : route.continue(),
        );
        await visitor.submit('Save');
        await page.getByText('You are not logged in any more').waitFor();
        await page.unroute('**/*');
        await visitor.logIn('ann');
        expect(await visitor.field(/^Title/).inputValue()).toBe('Typed');
        await visitor.click('link', 'All models');
        await page.goBack();
        await visitor.settle();
        await visitor.field(/^Title/).waitFor();
        expect(await visitor.field(/^Title/).inputValue()).toBe('Typed');
        await visitor.submit('Save');
        expect((await rows(Ware))[0]?.title).toBe('Typed');
      });

      test('a create whose response was lost is repeated with the same key, and creates one object', async () => {
        await openList();
        const { page } = visitor;
        await visitor.click('button', /^(New|Add to) /);
        await visitor.field(/^Title/).fill('Once');
        let isLost = false;
        await page.route('**/*', async (route) => {
          if (route.request().method() !== 'POST' || isLost) return route.continue();
          isLost = true;
          await route.fetch();
          return route.abort();
        });
        await visitor.submit(/^(Create|Add to) /);
        await page.getByText('What you typed is kept').waitFor();
        await visitor.submit(/^(Create|Add to) /);
        await page.getByText('Created.').waitFor();
        expect(await rows(Ware)).toHaveLength(1);
      });

      test('a second click while the request is under way sends nothing', async () => {
        await openList();
        const { page } = visitor;
        await visitor.click('button', /^(New|Add to) /);
        await visitor.field(/^Title/).fill('Once');
        let posts = 0;
        await page.route('**/*', async (route) => {
          if (route.request().method() === 'POST') {
            posts += 1;
            await new Promise((resolve) => setTimeout(resolve, 300));
          }
          return route.continue();
        });
        await page.locator('.form').locator('button[type=submit]').dblclick();
        await page.getByText('Created.').waitFor();
        expect(posts).toBe(1);
      });

      test('a deletion names the objects that are deleted with it, and a 409 those that prevent it', async () => {
        const ware = await saveWare();
        await started.dataSource.manager.save(Part, { name: 'Leg', ware });
        const order = await started.dataSource.manager.save(Order, { ware });
        await openWare(ware.id);
        const { page } = visitor;
        await visitor.click('button', 'Delete');
        const dialog = page.getByRole('alertdialog');
        expect(await dialog.innerText()).toMatch(/are deleted, too: Part[\s\S]*refer to it: Orders of wares/);
        await dialog.getByRole('button', { name: 'Delete' }).click();
        await page.getByText('objects of "shop.order" still refer to it').waitFor();
        await started.dataSource.manager.delete(Order, order.id);
        await dialog.getByRole('button', { name: 'Delete' }).click();
        await page.getByText('Deleted.').waitFor();
        expect(visitor.url).toBe(WARES);
        expect([(await rows(Ware)).length, (await rows(Part)).length]).toEqual([0, 0]);
      });

      test('a picker searches on the server, finds keys, works by keyboard, and creates in place', async () => {
        const names = Array.from({ length: 60 }, (_, at) => ({
          name: `Brand ${String(at).padStart(2, '0')}`,
        }));
        const brands = await started.dataSource.manager.save(Brand, names);
        const { id } = await saveWare();
        await openWare(id);
        const { page } = visitor;
        await visitor.click('button', 'Change');
        const picker = page.getByRole('combobox', { name: 'Brand' });
        const options = page.locator('.picker [role=option]');
        await picker.focus();
        await options.first().waitFor();
        expect(await options.count()).toBe(20);
        await picker.fill('nd 57');
        await page.getByRole('option', { name: 'Brand 57' }).waitFor();
        await expect(options.count()).resolves.toBe(1);
        await picker.fill(String(brands[41]?.id));
        await page.getByRole('option', { name: 'Brand 41' }).waitFor();
        await picker.press('ArrowDown');
        await picker.press('Enter');
        expect(await picker.inputValue()).toBe('Brand 41');
        await visitor.submit('Save');
        const brandOf = async (): Promise<number | undefined> =>
          (
            await started.dataSource.manager.findOneOrFail(Ware, {
              where: { id },
              relations: { brand: true },
            })
          ).brand?.id;
        expect(await brandOf()).toBe(brands[41]?.id);
        await visitor.click('button', 'Change');
        await page.getByRole('button', { name: /^Create a new object for Brand/ }).click();
        await visitor.field(/^Name/).fill('Made here');
        await page.locator('.form .form').locator('button[type=submit]').click();
        await page.locator('.form .form').waitFor({ state: 'detached' });
        expect(await picker.inputValue()).toBe('Made here');
        await visitor.submit('Save');
        await page.getByText('Saved.').waitFor();
        expect(await brandOf()).toBe(
          (await started.dataSource.manager.findOneByOrFail(Brand, { name: 'Made here' })).id,
        );
      });

      test('through objects are created, changed and deleted from both sides', async () => {
        const { id } = await saveWare();
        const shelf = await started.dataSource.manager.save(Shelf, { name: 'Top' });
        const { page } = visitor;
        await openWare(id);
        await visitor.click('link', 'Shelves');
        await visitor.click('button', /^(New|Add to) /);
        await page.getByRole('combobox', { name: 'Shelf' }).focus();
        await page.getByRole('option', { name: 'Top' }).click();
        await visitor.field('Place').fill('left');
        await visitor.submit(/^(Create|Add to) /);
        await page.getByText('Created.').waitFor();
        const placements = (): Promise<Placement[]> =>
          started.dataSource.manager.find(Placement, { relations: { ware: true, shelf: true } });
        expect(await placements()).toMatchObject([{ place: 'left', ware: { id }, shelf: { id: shelf.id } }]);
        await visitor.goto(`/rest/v1/shop/shelf/${shelf.id}/wares/`);
        await visitor.logIn('ann');
        await visitor.click('link', /^Open/);
        await visitor.click('button', 'Change');
        await visitor.field('Place').fill('right');
        await visitor.submit('Save');
        await page.getByText('Saved.').waitFor();
        expect((await placements())[0]?.place).toBe('right');
        await visitor.click('button', 'Delete');
        await visitor.submit('Delete');
        await page.getByText('Deleted.').waitFor();
        expect(await placements()).toEqual([]);
        expect(visitor.url).toBe(`/rest/v1/shop/shelf/${shelf.id}/wares/`);
      });

      test('many objects are changed and deleted: the chosen ones, or all that match, counted first', async () => {
        for (let stock = 1; stock <= 7; stock += 1) await saveWare({ title: `Ware ${stock}`, stock });
        await openList();
        const { page } = visitor;
        await page.getByRole('checkbox', { name: 'Choose Ware 1' }).check();
        await page.getByRole('checkbox', { name: 'Choose Ware 3' }).check();
        await visitor.click('button', 'Change the chosen…');
        await visitor.field('Price').fill('cheap');
        await visitor.submit('Change 2 objects');
        await page.locator('.form .errors').waitFor();
        await visitor.field('Price').fill('2.50');
        await visitor.field('Stock').fill('50');
        await visitor.submit('Change 2 objects');
        await page.getByText('Saved.').waitFor();
        const stocks = async (): Promise<readonly (number | null)[]> =>
          (await started.dataSource.manager.find(Ware, { order: { id: 'ASC' } })).map(({ stock }) => stock);
        expect(await stocks()).toEqual([50, 2, 50, 4, 5, 6, 7]);
        await visitor.goto(`${WARES}?stock__gte=5`);
        await visitor.logIn('ann');
        await visitor.click('button', 'Delete all that match…');
        await page.getByRole('heading', { name: 'Delete 5 objects' }).waitFor();
        expect(await page.locator('.form').innerText()).toMatch(/are deleted, too: .*Part/);
        await visitor.submit('Delete 5 objects');
        await page.getByText('Deleted.').waitFor();
        expect(await stocks()).toEqual([2, 4]);
      });

      test('actions are called with a body, and files that they return are saved', async () => {
        const { id } = await saveWare();
        await openWare(id);
        const { page } = visitor;
        await page.locator('summary', { hasText: 'Reserve' }).click();
        await page.getByLabel('Body, as JSON').fill('{');
        await visitor.click('button', 'Send: Reserve');
        await page.getByText(/^JSON: /).waitFor();
        await page.getByLabel('Body, as JSON').fill('');
        await visitor.click('button', 'Send: Reserve');
        await page.getByText(`"reserved": ${id}`).waitFor();
        await visitor.goto(WARES);
        await visitor.logIn('ann');
        await page.locator('summary', { hasText: 'Report' }).click();
        const download = page.waitForEvent('download');
        await visitor.click('button', 'Send: Report');
        expect((await download).suggestedFilename()).toMatch(/^report-\d{4}-\d\d-\d\d\.csv$/);
      });

      test('an action that declares its body has a form of its fields, with errors in place', async () => {
        const { id } = await saveWare();
        await openWare(id);
        const { page } = visitor;
        await page.locator('summary', { hasText: 'Move' }).click();
        await visitor.field(/^Side/).selectOption('left');
        await visitor.submit('Send: Move');
        await page.locator('.form .errors').waitFor();
        expect(await page.locator('.form .errors').allInnerTexts()).toEqual(['This field is required.']);
        expect(await visitor.field(/^Side/).inputValue()).toBe('left');
        await visitor.field(/^Amount/).fill('3');
        await visitor.field(/^Reason/).fill('order');
        const sent = page.waitForRequest((request) => request.method() === 'POST');
        await visitor.submit('Send: Move');
        expect((await sent).postDataJSON()).toEqual({ side: 'left', amount: 3, reason: 'order' });
        await page.getByText(`"moved": ${id}`).waitFor();
      });

      test('an object of a one-to-many list is created below its parent', async () => {
        const { id } = await saveWare();
        await visitor.goto(`${WARES}${id}/parts/`);
        expect(await visitor.page.getByRole('button', { name: /^New / }).count()).toBe(0);
        await visitor.logIn('ann');
        await visitor.click('button', /^(New|Add to) /);
        await visitor.field(/^Name/).fill('Leg');
        expect(await visitor.page.getByRole('combobox', { name: 'Ware' }).inputValue()).toBe('Chair');
        await visitor.submit(/^(Create|Add to) /);
        await visitor.page.getByText('Created.').waitFor();
        expect(await visitor.column('Name')).toEqual(['Leg']);
        expect(await started.dataSource.manager.find(Part, { relations: { ware: true } })).toMatchObject([
          { name: 'Leg', ware: { id } },
        ]);
      });

      test('a picker opens in the order of the labels where an index serves it, and without a count', async () => {
        await started.dataSource.manager.save(Brand, [{ name: 'Zeta' }, { name: 'Alpha' }, { name: 'Mid' }]);
        const { id } = await saveWare();
        await openWare(id);
        const { page } = visitor;
        await visitor.click('button', 'Change');
        const sent = page.waitForRequest((request) => request.url().includes('/shop/brand/?'));
        await page.getByRole('combobox', { name: 'Brand' }).focus();
        expect((await sent).url()).toMatch(/\?ordering=name$/);
        await page.locator('.picker [role=option]').first().waitFor();
        expect(
          (await page.locator('.picker [role=option]').allInnerTexts()).map((each) => each.split(/\s/)[0]),
        ).toEqual(['Alpha', 'Mid', 'Zeta']);
      });

      test('a file is stored as it is, and shown by its size', async () => {
        await visitor.goto('/rest/v1/shop/photo/');
        await visitor.logIn('ann');
        const { page } = visitor;
        await visitor.click('button', /^(New|Add to) /);
        const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 256));
        await visitor
          .field(/^Bytes/)
          .setInputFiles({ name: 'a.bin', mimeType: 'application/octet-stream', buffer: bytes });
        await page.locator('.form').getByText('70000 bytes').waitFor();
        await visitor.submit(/^(Create|Add to) /);
        await page.getByText('Created.').waitFor();
        const [photo] = await started.dataSource.manager.find(PHOTOS[database.name]);
        expect(photo?.bytes?.equals(bytes)).toBe(true);
        await page.getByText('70000 bytes').first().waitFor();
      });

      test('an object whose key contains a comma is not chosen with others, because commas separate keys', async () => {
        await started.dataSource.manager.save(Code, [{ code: 'a,b' }, { code: 'a' }, { code: 'b' }]);
        await visitor.goto('/rest/v1/shop/code/');
        await visitor.logIn('ann');
        const { page } = visitor;
        expect(await page.getByRole('checkbox', { name: 'Choose a,b' }).isDisabled()).toBe(true);
        await page.getByRole('checkbox', { name: 'Choose all' }).check();
        await visitor.click('button', 'Delete the chosen…');
        await visitor.submit('Delete 2 objects');
        await page.getByText('Deleted.').waitFor();
        expect((await rows(Code)).map(({ code }) => code)).toEqual(['a,b']);
      });

      test('forms are accessible, in light and dark', async () => {
        const { id } = await saveWare();
        for (const colorScheme of ['light', 'dark'] as const)
          expect(
            await findBarriers(browser, `${visitor.origin}${WARES}${id}/`, {
              colorScheme,
              prepare: async (page) => {
                const own = new Visitor(page, visitor.origin);
                await own.logIn('ann');
                await own.click('button', 'Change');
                await page.getByRole('combobox', { name: 'Brand' }).waitFor();
              },
            }),
          ).toEqual([]);
      });
    },
    ['sqlite', 'postgres'],
  );
});
