// @tags core
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { AllowAny } from 'nestjs-restify';
import { ClubModule } from '../../sample-app/src/club/club.module.js';
import { ENTITIES } from '../../sample-app/src/data-source-options.js';
import { Member } from '../../sample-app/src/club/member.entity.js';
import { DeskModule } from '../../sample-app/src/desk/desk.module.js';
import { Ticket } from '../../sample-app/src/desk/ticket.entity.js';
import { seed } from '../../sample-app/src/seed.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { openBrowser, RUNS_BROWSER, Visitor } from './open-browser.js';

const TICKETS = '/rest/v1/desk/ticket/';

/** What docs/reference/tour.md does with curl, done by hand on the page, from its first URL on. */
(RUNS_BROWSER ? describe : describe.skip)('the tour, in a browser', () => {
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
    browser = await openBrowser();
  });
  beforeEach(async () => {
    await started.dataSource.synchronize(true);
    await seed(started.dataSource);
    visitor = await Visitor.open(browser, `http://127.0.0.1:${started.port}`);
    await visitor.goto('/');
  });
  afterEach(async () => {
    expect(visitor.problems).toEqual([]);
    await visitor.page.context().close();
  });
  afterAll(async () => {
    await browser.close();
    await started.close();
  });

  const notice = (): Promise<string> => visitor.page.locator('.notice').innerText();
  const toIndex = (): Promise<void> => visitor.click('link', 'All models');

  test('lists, nested lists, a new choice, its change, errors, and its deletion', async () => {
    const { page } = visitor;
    await visitor.click('link', 'Questions');
    expect(await visitor.column('Question text')).toContain("What's new?");
    await visitor.click('link', "Open What's new?");
    await visitor.click('link', 'Choices');
    expect(await visitor.column('Choice text')).toEqual(['Not much', 'The sky']);
    await visitor.click('button', 'New Choice');
    await visitor.field(/^Choice text/).fill('Just hacking again');
    await visitor.submit('Create Choice');
    expect(await visitor.column('Votes')).toEqual(['3', '7', '0']);
    await visitor.click('link', 'Open Just hacking again');
    await visitor.click('button', 'Change');
    await visitor.field('Votes').fill('5');
    await visitor.submit('Save');
    expect(await page.locator('.fields').innerText()).toMatch(/votes\s*5/);
    await visitor.click('button', 'Change');
    await visitor.field(/^Choice text/).fill('');
    await visitor.submit('Save');
    expect(await page.locator('.errors').allInnerTexts()).toEqual(['This field may not be blank.']);
    await visitor.click('button', 'Discard');
    await visitor.click('button', 'Delete');
    await visitor.submit('Delete');
    expect(await notice()).toBe('Deleted.');
    expect(await visitor.column('Choice text')).toEqual(['Not much', 'The sky']);
  });

  test('filters, search, order, and the lookups of reviews', async () => {
    const { page } = visitor;
    await visitor.click('link', 'Choices');
    await page.getByPlaceholder('Search').fill('sky');
    await visitor.click('button', 'Search');
    expect(await visitor.column('Choice text')).toEqual(['The sky']);
    await toIndex();
    await visitor.click('link', 'Choices');
    await visitor.click('link', 'Order by Choice text');
    expect(visitor.url).toBe('/rest/v1/polls/choice/?ordering=choice_text');
    await toIndex();
    await visitor.click('link', 'Reviews');
    expect((await visitor.column('Stars')).join('')).toMatch(/^5+4+3+2$/);
    await page.getByText('Filters').click();
    for (const [field, comparison, value] of [
      ['Stars', 'is at least', '4'],
      ['Text', 'contains', 'CLEAR'],
    ] as const) {
      await page.getByLabel('Field').selectOption({ label: field });
      await page.getByLabel('Comparison').selectOption({ label: comparison });
      await page.getByLabel('Value').fill(value);
      await visitor.click('button', 'Apply');
    }
    expect(visitor.url).toBe('/rest/v1/library/review/?stars__gte=4&text__icontains=CLEAR');
    expect(await visitor.column('Text')).toEqual(['Short and clear']);
  });

  test('through objects of students and courses, from both sides, and a pair that exists', async () => {
    const { page } = visitor;
    const enroll = async (): Promise<void> => {
      await visitor.click('button', /^Add to /);
      await page.getByRole('combobox', { name: 'Course' }).focus();
      await page.getByRole('option', { name: 'Compilers' }).click();
      await visitor.submit(/^Add to /);
    };
    await visitor.click('link', 'Students');
    await visitor.click('link', 'Open Grace');
    await visitor.click('link', 'Course set');
    await enroll();
    expect(await visitor.column('Course')).toEqual(['Compilers']);
    await enroll();
    await page.getByText('The fields course, student must make a unique set.').waitFor();
    await toIndex();
    await visitor.click('link', 'Courses');
    await visitor.click('link', 'Open Compilers');
    await visitor.click('link', 'Student');
    expect(await visitor.column('Student')).toEqual(['Barbara', 'Niklaus', 'Leslie', 'Grace']);
    await toIndex();
    await visitor.click('link', 'Books');
    await visitor.click('link', /^Open The C/);
    await visitor.click('link', 'Authors');
    expect(await visitor.column('Author')).toEqual(['Kernighan', 'Ritchie']);
  });

  test('the help desk, as each of its users', async () => {
    const { page } = visitor;
    await visitor.click('link', 'Tickets');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(
      'This URL requires you to log in.',
    );
    await visitor.logIn('clerk', 'clerk');
    await visitor.click('button', 'New Ticket');
    await visitor.field(/^Subject/).fill('Printer');
    await visitor.submit('Create Ticket');
    expect(await notice()).toBe('Created.');
    const [ticket] = await started.dataSource.manager.find(Ticket);
    await visitor.goto(`${TICKETS}${ticket?.id ?? 0}/comments/`);
    await visitor.logIn('clerk', 'clerk');
    expect(await page.locator('.problem').innerText()).toMatch(/^403 You may not do this/);
    for (const [user, tabs] of [
      ['admin', ['Details', 'Comments', 'Agents']],
      ['planner', ['Details', 'Agents']],
      ['clerk', []],
    ] as const) {
      await visitor.goto(`${TICKETS}${ticket?.id ?? 0}/`);
      await visitor.logIn(user, user);
      expect([user, await page.locator('.tabs a').allInnerTexts()]).toEqual([user, tabs]);
    }
    for (const user of ['scribe', 'guest']) {
      await visitor.goto(TICKETS);
      await visitor.logIn(user, user);
      expect([user, await page.locator('.problem strong').innerText()]).toEqual([user, '403']);
    }
  });

  test('nested URLs that methods of the application serve show what they respond', async () => {
    const { page } = visitor;
    const { id } = await started.dataSource.manager.save(Member, { name: 'Maria' });
    await visitor.goto(`/rest/v1/club/member/${id}/`);
    await visitor.click('link', 'Events');
    await page.getByText('custom list', { exact: true }).waitFor();
    await visitor.click('link', 'Payments');
    await page.getByText('custom payments', { exact: true }).waitFor();
  });
});
