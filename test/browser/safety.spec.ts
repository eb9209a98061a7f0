// @tags http
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { basic, IsAuthenticated, Restify } from 'nestjs-restify';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { openBrowser, RUNS_BROWSER, Visitor } from './open-browser.js';

@Restify({ app: 'safe', label: 'text' })
@Entity('safety_entry')
class Entry {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'text' })
  text: string;
}

/** Basic stands beside the session, which the application's middleware reads. */
@Restify({
  app: 'safe',
  permissions: [IsAuthenticated],
  authentication: [basic((name, password) => (password === 'pass' ? { username: name } : null))],
})
@Entity('safety_secret')
class Secret {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  text: string;
}

interface SessionRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: object;
}

interface SessionResponse {
  setHeader(name: string, value: string | readonly string[]): void;
}

/** The application's session: `?login` of any URL sets its cookies, one of which holds the CSRF token. */
function session(
  request: SessionRequest & { readonly url?: string },
  response: SessionResponse,
  next: () => void,
): void {
  if (request.url?.includes('login') === true)
    response.setHeader('Set-Cookie', ['session=ann; Path=/; HttpOnly; SameSite=Lax', 'csrf=t%20k; Path=/']);
  const name = /session=(\w+)/.exec(request.headers.cookie ?? '')?.[1];
  if (name !== undefined) request.user = { username: name };
  next();
}

const ENTRIES = '/rest/v1/safe/entry/';
const SECRETS = '/rest/v1/safe/secret/';

(RUNS_BROWSER ? describe : describe.skip)('the page in Chromium is safe', () => {
  let started: StartedApp;
  let browser: Browser;
  let visitor: Visitor;
  /** A server of somebody else's, for pages that attack. */
  let foreign: Server;
  let attack = '';
  beforeAll(async () => {
    started = await startApp({
      entities: [Entry, Secret],
      compare: false,
      undescribed: 'all',
      restify: {
        browsable: {
          login: {
            cookie: true,
            csrf: { cookie: 'csrf', header: 'X-CSRF-Token' },
            loginUrl: '/rest/v1/?login',
          },
        },
      },
      configure: (app) => {
        app.use(session);
      },
    });
    browser = await openBrowser();
    foreign = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(attack);
    }).listen(0, '127.0.0.1');
  });
  beforeEach(async () => {
    const { manager } = started.dataSource;
    for (const entity of [Entry, Secret]) await manager.clear(entity);
    await manager.save(Secret, { text: 'for ann' });
    visitor = await Visitor.open(browser, `http://127.0.0.1:${started.port}`);
  });
  afterEach(async () => {
    await visitor.page.context().close();
  });
  afterAll(async () => {
    await browser.close();
    foreign.close();
    await started.close();
  });

  const foreignUrl = (host: string): string => `http://${host}:${(foreign.address() as AddressInfo).port}/`;

  test('stored texts run nothing, load nothing, and hide nothing', async () => {
    await started.dataSource.manager.save(Entry, [
      { text: '<img src=x onerror=alert(1)><script>alert(2)</script>' },
      { text: 'javascript:alert(3)' },
      { text: 'a\u202Ecba\u200B' },
      { text: 'x'.repeat(50_000) },
      { text: '{{constructor.constructor("alert(4)")()}}' },
    ]);
    const { page } = visitor;
    let dialogs = 0;
    page.on('dialog', (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    await visitor.goto(ENTRIES);
    await page.getByText('<img src=x onerror=alert(1)><script>alert(2)</script>').first().waitFor();
    expect(await page.locator('a[href^="javascript:"], main img, main script').count()).toBe(0);
    await page.getByText('a‹U+202E›cba‹U+200B›', { exact: true }).first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(dialogs).toBe(0);
    expect(visitor.problems).toEqual([]);
  });

  test('it cannot be framed, by its own origin either', async () => {
    const { page } = visitor;
    attack = `<iframe src="${visitor.origin}${ENTRIES}"></iframe>`;
    for (const host of ['127.0.0.1', 'evil.example']) {
      await page.goto(foreignUrl(host));
      await page.waitForTimeout(300);
      const framed = page.frames().find((frame) => frame !== page.mainFrame());
      expect(
        await framed
          ?.locator('#app')
          .count()
          .catch(() => 0),
      ).toBe(0);
    }
  });

  test('a session of the application: logs in by its page, and writes with its CSRF token, without a dialog', async () => {
    const { page } = visitor;
    await visitor.goto(SECRETS);
    await page.getByText('This URL requires you to log in.').first().waitFor();
    await page.goto(`${visitor.origin}/rest/v1/?login`);
    await visitor.goto(SECRETS);
    expect(await visitor.column('Text')).toEqual(['for ann']);
    await visitor.click('button', /^(New|Add to) /);
    await visitor.field(/^Text/).fill('by the page');
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await visitor.submit(/^(Create|Add to) /);
    expect((await sent).headers()['x-csrf-token']).toBe('t k');
    await page.getByText('Created.').waitFor();
    expect(await started.dataSource.manager.count(Secret)).toBe(2);
  });

  test('a form and a script of another site, and of another port, write nothing with the cookies of the session', async () => {
    const { page } = visitor;
    await page.goto(`${visitor.origin}/rest/v1/?login`);
    for (const host of ['evil.example', '127.0.0.1']) {
      attack = `<form id=f method=post action="${visitor.origin}${SECRETS}"></form>`;
      const other = await page.context().newPage();
      await other.goto(foreignUrl(host));
      await other.evaluate(
        `fetch('${visitor.origin}${SECRETS}', { method: 'POST', credentials: 'include', mode: 'no-cors' }).catch(() => undefined)`,
      );
      const answered = other.waitForResponse((response) => response.url().includes(SECRETS));
      await other.evaluate("document.getElementById('f').submit()");
      // Another site's form carries no cookie with SameSite=Lax; that of another port does.
      expect((await answered).status()).toBe(host === '127.0.0.1' ? 403 : 401);
      await other.close();
    }
    expect(await started.dataSource.manager.count(Secret)).toBe(1);
  });

  test('credentials are neither in the URL nor kept, and logging out empties every tab', async () => {
    const { page } = visitor;
    await visitor.goto(SECRETS);
    await visitor.logIn('ben', 'wrong');
    await page.getByText('did not accept').waitFor();
    expect(await page.getByText('Logged in as ben').count()).toBe(0);
    await visitor.logIn('ben');
    expect(await visitor.column('Text')).toEqual(['for ann']);
    expect(page.url()).not.toMatch(/pass|ben/);
    const second = new Visitor(await page.context().newPage(), visitor.origin);
    await second.goto(SECRETS);
    expect(await second.page.getByText('for ann').count()).toBe(0);
    await second.logIn('cleo');
    expect(await second.column('Text')).toEqual(['for ann']);
    await visitor.click('button', 'Log out');
    await second.settle();
    for (const each of [page, second.page]) {
      await each.getByText('This URL requires you to log in.').first().waitFor();
      expect(await each.getByText('for ann').count()).toBe(0);
      expect(await each.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
    }
    await page.goto('about:blank');
    await page.goBack();
    await visitor.settle();
    expect(await page.getByText('for ann').count()).toBe(0);
  });

  test('it works over plain HTTP on a host name, which is no secure context', async () => {
    const plain = await Visitor.open(browser, `http://api.example:${started.port}`);
    await plain.goto(ENTRIES);
    expect(await plain.page.evaluate('isSecureContext')).toBe(false);
    await plain.click('button', /^(New|Add to) /);
    await plain.field(/^Text/).fill('plain');
    await plain.submit(/^(Create|Add to) /);
    await plain.page.getByText('Created.').waitFor();
    await plain.page.getByText('Request, as curl and fetch').click();
    await plain.page.locator('pre.code').first().waitFor();
    expect(plain.problems).toEqual([]);
    await plain.page.context().close();
  });
});
