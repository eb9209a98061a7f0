// @tags db
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { basic, IsAuthenticated, ModelPermissions, Restify } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { findBarriers, openBrowser, RUNS_BROWSER, Visitor } from './open-browser.js';

@Restify({
  app: 'attic',
  label: 'title',
  permissions: [IsAuthenticated],
  trash: true,
  bulk: true,
  conditional: true,
  exclude: ['gone'],
})
@Entity('browser_letter')
class Letter {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) title: string;
  @OneToMany(() => Sheet, (sheet) => sheet.letter) sheets: Relation<Sheet[]>;
  @VersionColumn() version: number;
  @DeleteDateColumn() gone: Date | null;
}

@Restify({ app: 'attic', permissions: [ModelPermissions], trash: true })
@Entity('browser_sheet')
class Sheet {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Letter, (letter) => letter.sheets, { nullable: false, onDelete: 'RESTRICT' })
  letter: Relation<Letter>;
  @DeleteDateColumn() gone: Date | null;
}

const LETTERS = '/rest/v1/attic/letter/';
const SHEETS = '/rest/v1/attic/sheet/';

(RUNS_BROWSER ? describe : describe.skip)('the trash on the page', () => {
  onEachDatabase(
    'in Chromium',
    (database) => {
      let started: StartedApp;
      let browser: Browser;
      let visitor: Visitor;
      beforeAll(async () => {
        const permissions = ['attic.view_sheet', 'attic.view_deleted_sheet'];
        started = await startApp({
          entities: [Letter, Sheet],
          database,
          compare: false,
          restify: {
            browsable: true,
            authentication: [basic((name) => ({ username: name, permissions }))],
          },
        });
        browser = await openBrowser();
      });
      beforeEach(async () => {
        const { manager } = started.dataSource;
        for (const entity of [Sheet, Letter])
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

      const save = async (title: string): Promise<number> => {
        const { manager } = started.dataSource;
        const { id } = await manager.save(Letter, { title });
        await manager.softDelete(Letter, id);
        return id;
      };

      test('has a list, and objects with buttons to restore them and to delete them for good', async () => {
        const [kept, gone] = [await save('back'), await save('away')];
        await started.dataSource.manager.save(Letter, { title: 'here' });
        const { page } = visitor;
        await visitor.goto(LETTERS);
        await visitor.logIn('ann');
        expect(await visitor.column('Title')).toEqual(['here']);
        await visitor.click('link', 'Deleted objects');
        expect(visitor.url).toBe(`${LETTERS}?deleted=only`);
        expect(await visitor.column('Title')).toEqual(['back', 'away']);
        expect(await page.getByRole('button', { name: /^New / }).count()).toBe(0);
        expect(await page.getByRole('checkbox').filter({ visible: true }).count()).toBe(0);
        expect(await page.getByText('does not know').count()).toBe(0);

        await visitor.click('link', 'Open back');
        expect(visitor.url).toBe(`${LETTERS}${kept}/?deleted=only`);
        expect(await page.getByRole('button', { name: 'Change', exact: true }).count()).toBe(0);
        expect(await page.getByRole('button', { name: 'Delete', exact: true }).count()).toBe(0);
        await visitor.click('button', 'Restore');
        expect(visitor.url).toBe(`${LETTERS}${kept}/`);
        await page.getByText('Restored.').waitFor();
        expect(await page.getByRole('button', { name: 'Change', exact: true }).count()).toBe(1);

        await visitor.goto(`${LETTERS}${gone}/?deleted=only`);
        await visitor.logIn('ann');
        await visitor.click('button', 'Delete for good');
        await page.getByText('Delete letter “away” for good?').waitFor();
        await visitor.submit('Delete for good');
        expect(visitor.url).toBe(`${LETTERS}?deleted=only`);
        await page.getByText('Deleted for good.').waitFor();
        expect(await started.dataSource.manager.count(Letter, { withDeleted: true })).toBe(2);
        await visitor.click('link', 'Objects that are not deleted');
        expect(await visitor.column('Title')).toEqual(['back', 'here']);
      });

      test('shows why an object is not purged', async () => {
        const id = await save('held');
        await started.dataSource.manager.save(Sheet, { letter: { id } });
        await visitor.goto(`${LETTERS}${id}/?deleted=only`);
        await visitor.logIn('ann');
        await visitor.click('button', 'Delete for good');
        const dialog = visitor.page.getByRole('alertdialog', { name: 'Delete for good' });
        await dialog.getByText('while objects of these models refer to it: Sheet').waitFor();
        await visitor.submit('Delete for good');
        await visitor.page.getByText('still refer to it').waitFor();
        expect(
          await findBarriers(browser, `http://127.0.0.1:${started.port}${LETTERS}?deleted=only`),
        ).toEqual([]);
      });

      test('has no buttons for a caller who may only read it', async () => {
        const { manager } = started.dataSource;
        const letter = await manager.save(Letter, { title: 'of it' });
        const { id } = await manager.save(Sheet, { letter });
        await manager.softDelete(Sheet, id);
        await visitor.goto(`${SHEETS}${id}/?deleted=only`);
        await visitor.logIn('ann');
        await visitor.page.locator('dt code', { hasText: 'gone' }).waitFor();
        for (const name of ['Restore', 'Delete for good', 'Change', 'Delete'])
          expect(await visitor.page.getByRole('button', { name, exact: true }).count()).toBe(0);
      });
    },
    ['sqlite'],
  );
});
