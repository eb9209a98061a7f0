// @tags core
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AllowAny } from 'nestjs-restify';
import type { Browser } from 'playwright-core';
import { ClubModule } from '../../sample-app/src/club/club.module.js';
import { ENTITIES } from '../../sample-app/src/data-source-options.js';
import { Agent } from '../../sample-app/src/desk/agent.entity.js';
import { Assignment } from '../../sample-app/src/desk/assignment.entity.js';
import { Member } from '../../sample-app/src/club/member.entity.js';
import { DeskModule } from '../../sample-app/src/desk/desk.module.js';
import { Ticket } from '../../sample-app/src/desk/ticket.entity.js';
import { Choice } from '../../sample-app/src/polls/choice.entity.js';
import { Question } from '../../sample-app/src/polls/question.entity.js';
import { seed } from '../../sample-app/src/seed.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { openBrowser, RUNS_BROWSER, Visitor } from './open-browser.js';

const CHOICES = '/rest/v1/polls/choice/';
const TICKETS = '/rest/v1/desk/ticket/';

/** What people who saw the page for the first time stumbled over. */
(RUNS_BROWSER ? describe : describe.skip)('a first visitor of the page', () => {
  let started: StartedApp;
  let browser: Browser;
  let visitor: Visitor;
  let question: Question;
  let ticket: Ticket;
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
    const { manager } = started.dataSource;
    await started.dataSource.synchronize(true);
    await seed(started.dataSource);
    question = await manager.save(Question, { question_text: 'Which day?', pub_date: new Date() });
    await manager.save(Choice, [
      { choice_text: 'Monday', votes: 3, question },
      { choice_text: 'Friday', votes: 9, question },
    ]);
    ticket = await manager.save(Ticket, { subject: 'Printer', body: '' });
    const agent = await manager.save(Agent, { name: 'Ada' });
    await manager.save(Assignment, { ticket, agent, role: 'owner' });
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

  const heading = (): Promise<string> => visitor.page.getByRole('heading', { level: 1 }).innerText();
  const notice = (): Promise<string> => visitor.page.locator('.notice').innerText();

  test.each(['/', CHOICES, TICKETS])(
    'a wrong password at %s shows an error, and is not stored',
    async (path) => {
      const { page } = visitor;
      await visitor.goto(path);
      await visitor.logIn('clerk', 'wrong');
      await page.getByText('The server did not accept these credentials.').waitFor();
      expect(await page.locator('.caller').innerText()).not.toMatch(/Logged in|Log out/);
      expect(await page.getByLabel('User name', { exact: true }).inputValue()).toBe('clerk');
      const sent: (string | undefined)[] = [];
      page.on('request', (request) => sent.push(request.headers().authorization));
      await page.reload();
      await visitor.settle();
      expect(sent.every((each) => each === undefined)).toBe(true);
      await visitor.logIn('clerk', 'clerk');
      await page.getByText('Logged in as clerk').waitFor();
      await visitor.click('button', 'Log out');
      expect(await notice()).toBe('You are logged out.');
    },
  );

  test('a URL that requires a login shows one message and no other control', async () => {
    const { page } = visitor;
    await visitor.goto(TICKETS);
    expect(await heading()).toBe('This URL requires you to log in.');
    expect(await page.locator('.problem').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Log in' }).count()).toBe(1);
  });

  test('a list below an object has its name, and deleting an object leads back to that list', async () => {
    const { page } = visitor;
    await visitor.goto(`/rest/v1/polls/question/${question.id}/choices/`);
    expect(await heading()).toBe('Choices of “Which day?”');
    await visitor.click('link', 'Open Monday');
    expect(await heading()).toBe('Choice: Monday');
    await visitor.click('link', '← Choices of “Which day?”');
    await visitor.click('link', 'Open Friday');
    await visitor.click('button', 'Delete');
    await page.getByRole('heading', { name: 'Delete Choice “Friday”?' }).waitFor();
    await visitor.submit('Delete');
    expect(await heading()).toBe('Choices of “Which day?”');
    expect(await visitor.column('Choice text')).toEqual(['Monday']);
    expect(await notice()).toBe('Deleted.');
    await visitor.click('button', 'New Choice');
    expect(await notice()).toBe('');
    // The parent is named by its label.
    expect(await page.getByRole('combobox', { name: /^Question/ }).inputValue()).toBe('Which day?');
  });

  test('through objects keep the tabs of the object above, before and after they are created', async () => {
    await visitor.goto(`${TICKETS}${ticket.id}/agents/`);
    await visitor.logIn('admin', 'admin');
    expect(await heading()).toBe('Agents of “Printer”');
    await visitor.click('link', 'Open owner');
    expect(await heading()).toBe('Agents of “Printer”: Ada');
    expect(await visitor.page.locator('.tabs a[aria-current=page]').innerText()).toBe('Agents');
    await started.dataSource.manager.save(Agent, { name: 'Bea' });
    await visitor.click('link', 'Agents');
    await visitor.click('button', /^(New|Add to) /);
    await visitor.page.getByRole('combobox', { name: 'Agent' }).focus();
    await visitor.page.getByRole('option', { name: 'Bea' }).click();
    await visitor.submit(/^(Create|Add to) /);
    expect(await notice()).toBe('Created.');
    expect(await heading()).toBe('Agents of “Printer”');
    expect(await visitor.column('Agent')).toEqual(['Ada', 'Bea']);
  });

  test('a list that the user may not read is no link', async () => {
    await visitor.goto(`${TICKETS}${ticket.id}/`);
    await visitor.logIn('clerk', 'clerk');
    expect(await visitor.page.locator('.tabs').count()).toBe(0);
    expect(await visitor.page.locator('.fields a').count()).toBe(0);
    expect(await visitor.page.locator('.fields dd').allInnerTexts()).toContain(
      'comments: you may not see these',
    );
  });

  test('books are filtered by their authors, who are named', async () => {
    const { page } = visitor;
    await visitor.goto('/rest/v1/library/book/');
    await page.getByText('Filters').click();
    await page.getByLabel('Field').selectOption({ label: 'Authors' });
    const picker = page.getByRole('combobox', { name: 'Value' });
    await picker.focus();
    await page.getByRole('option', { name: /Ritchie/ }).click();
    await visitor.click('button', 'Apply');
    expect(await visitor.column('Title')).toEqual(['The C Programming Language']);
    await visitor.click('link', 'Open The C Programming Language');
    await visitor.click('link', 'Authors');
    expect(await heading()).toBe('Authors of “The C Programming Language”');
    expect((await visitor.column('Author')).join()).toMatch(/Ritchie/);
  });

  test('a wrong filter in the URL can be corrected, or left out', async () => {
    const { page } = visitor;
    await visitor.goto(`${CHOICES}?votes=many`);
    expect(await page.locator('.problem strong').innerText()).toBe('400');
    expect(await page.getByRole('link', { name: /^Remove the filter/ }).count()).toBe(1);
    await visitor.click('link', /without filters/);
    expect(visitor.url).toBe(CHOICES);
    expect((await visitor.column('Choice text')).length).toBeGreaterThan(1);
  });

  test('an error goes when its field is edited, and a picker moves nothing below it', async () => {
    const { page } = visitor;
    await visitor.goto(CHOICES);
    await visitor.click('button', 'New Choice');
    await visitor.submit('Create Choice');
    expect(await page.locator('.errors').count()).toBe(2);
    const submit = page.locator('.form button[type=submit]');
    const before = await submit.boundingBox();
    await visitor.field(/^Choice text/).fill('Sunday');
    expect(await page.locator('.errors:not(.edited)').count()).toBe(1);
    expect(await submit.boundingBox()).toEqual(before);
    await page.getByRole('combobox', { name: /^Question/ }).focus();
    await page.getByRole('option', { name: 'Which day?' }).waitFor();
    expect(await submit.boundingBox()).toEqual(before);
    await page.getByRole('option', { name: 'Which day?' }).click();
    await visitor.submit('Create Choice');
    expect(await heading()).toBe('Choice: Sunday');
  });

  test('an unknown parameter shows a note, and a menu closes by Escape and by a click outside', async () => {
    const { page } = visitor;
    await visitor.goto(`${CHOICES}?vote__gt=5`);
    await page.getByText('which therefore may have no effect: vote__gt').waitFor();
    await visitor.click('link', 'Remove them');
    expect(visitor.url).toBe(CHOICES);
    const columns = page.locator('details.menu', { hasText: 'Columns' });
    await columns.locator('summary').click();
    await page.getByRole('checkbox', { name: 'Votes' }).uncheck();
    expect(await columns.locator('summary').innerText()).toBe('Columns (1 hidden)');
    await page.keyboard.press('Escape');
    expect(await columns.getAttribute('open')).toBe(null);
    await columns.locator('summary').click();
    await page.getByRole('heading', { level: 1 }).click();
    expect(await columns.getAttribute('open')).toBe(null);
  });

  test('an action shows what it has changed', async () => {
    await started.dataSource.manager.save(Member, { name: 'Maria' });
    await visitor.goto('/rest/v1/club/member/1/');
    await visitor.page.locator('summary', { hasText: 'Rename' }).click();
    await visitor.field(/^Name/).fill('Marie');
    await visitor.submit('Send: Rename');
    expect(await notice()).toBe('Done: Rename.');
    expect(await heading()).toBe('Member: Marie');
  });

  test('a reload shows that the session has ended, and keeps form input for the same user only', async () => {
    const { page } = visitor;
    await visitor.goto(TICKETS);
    await visitor.logIn('clerk', 'clerk');
    await visitor.click('button', 'New Ticket');
    // The first field has the focus.
    await page.keyboard.type('Half a ticket');
    await page.reload();
    await visitor.settle();
    expect(await notice()).toMatch(/has logged you out/);
    await visitor.logIn('clerk', 'clerk');
    expect(await visitor.field(/^Subject/).inputValue()).toBe('Half a ticket');
    await page.reload();
    await visitor.settle();
    await visitor.logIn('admin', 'admin');
    expect(await page.locator('.form').count()).toBe(0);
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('Half');
  });

  test('a second click on the button of a form does nothing', async () => {
    await visitor.goto(`${CHOICES}1/`);
    await visitor.page.getByRole('button', { name: 'Change' }).dblclick();
    await visitor.settle();
    expect(await visitor.page.locator('.form h2').allInnerTexts()).toEqual(['Change']);
  });

  test('credentials in commands are shown for one page only', async () => {
    const { page } = visitor;
    await visitor.goto(TICKETS);
    await visitor.logIn('admin', 'admin');
    await page.getByText('Request, as curl and fetch').click();
    await page.getByText('The credentials are left out').waitFor();
    await page.getByRole('checkbox', { name: 'Show credentials' }).check();
    expect(await page.locator('pre.code').first().innerText()).toContain('Basic YWRtaW46YWRtaW4=');
    await visitor.click('link', 'Open Printer');
    expect(await page.locator('pre.code').first().innerText()).toContain('Basic …');
  });
});
