/**
 * Looks at the browsable page of the sample application in a real browser, as a person would: `npm run trial:browser`.
 * Needs Chromium (Debian's package `chromium`, or `CHROMIUM` with the path of another one). Exits with 1 if a check fails.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';

const PORT = 4_571;
const ORIGIN = `http://127.0.0.1:${PORT}`;
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** The password of a user of the sample application equals its name. */
const USER = 'admin';
const FOLDER = mkdtempSync(join(tmpdir(), 'browser-'));
const PICTURES = join('dist', 'browser');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

const failures: string[] = [];

function check(holds: boolean, what: string): void {
  console.log(`${holds ? 'ok    ' : 'FAILED'} ${what}`);
  if (!holds) failures.push(what);
}

/** Serious problems of accessibility. The policy of the page forbids the script, so it runs in a page that ignores the policy. */
async function checkAccessibility(browser: Browser, path: string, scheme: 'light' | 'dark'): Promise<void> {
  const page = await browser.newPage({ bypassCSP: true, colorScheme: scheme });
  await open(page, path);
  await page.evaluate(AXE);
  const found = await page.evaluate<readonly Violation[]>('axe.run().then(({ violations }) => violations)');
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const lines = serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 120) ?? ''}`);
  check(serious.length === 0, `${path} (${scheme}) is accessible ${lines.join('; ')}`);
  await page.close();
}

async function open(page: Page, path: string): Promise<void> {
  await page.goto(ORIGIN + path);
  await page.locator('main[aria-busy="false"]').waitFor();
}

/** Waits until the page shows what it has requested. */
async function settle(page: Page): Promise<void> {
  await page.waitForTimeout(100);
  await page.locator('main[aria-busy="false"]').waitFor();
}

async function lookAround(page: Page): Promise<void> {
  await open(page, '/');
  check((await page.getByRole('heading', { level: 2 }).count()) > 1, 'the index lists the apps');
  await page.getByRole('link', { name: 'Choice', exact: true }).click();
  await settle(page);
  check(page.url() === `${ORIGIN}/rest/v1/polls/choice/`, 'a model leads to its list');
  const rows = page.getByRole('row');
  const all = await rows.count();
  await page.getByText('Filters').click();
  await page.getByLabel('Field').selectOption({ label: 'Votes' });
  await page.getByLabel('Value').fill('7');
  await page.getByRole('button', { name: 'Apply' }).first().click();
  await settle(page);
  check(new URL(page.url()).search === '?votes=7', 'a filter is in the address bar');
  check((await rows.count()) < all, 'a filter reduces the rows');
  await page.getByRole('link', { name: /^Remove the filter/ }).click();
  await settle(page);
  await page.getByRole('link', { name: 'Order by Votes' }).click();
  await settle(page);
  check(new URL(page.url()).search === '?ordering=votes', 'an order is in the address bar');
  check((await page.locator('th[aria-sort="ascending"]').count()) === 1, 'the order is announced');
  await page.goBack();
  await settle(page);
  check(new URL(page.url()).search === '', 'Back returns to the list before');
  await page.getByRole('link', { name: "What's new?" }).first().click();
  await settle(page);
  check((await page.title()).includes("What's new?"), 'a related object has its label as title');
}

async function logIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('User name', { exact: true }).fill('nobody');
  await page.getByLabel('Password', { exact: true }).fill('secret');
  await page.locator('form').getByRole('button', { name: 'Log in' }).click();
  await settle(page);
  check(!page.url().includes('secret'), 'credentials are not in the URL');
  await page.getByText('Request', { exact: true }).click();
  const command = await page.locator('pre.code').first().innerText();
  check(command.includes('Authorization: Basic …'), 'the command hides the credentials');
  await page.getByRole('button', { name: 'Log out' }).click();
  await settle(page);
  check((await page.getByRole('button', { name: 'Log in' }).count()) > 0, 'logging out forgets them');
}

/** A model that only users may read. */
async function openRefused(page: Page): Promise<void> {
  await open(page, '/rest/v1/desk/ticket/');
  check(await page.getByRole('alert').first().isVisible(), 'a refused list says that a login is needed');
  const submit = page.locator('form').getByRole('button', { name: 'Log in' });
  await page.getByLabel('User name', { exact: true }).fill('admin');
  await page.getByLabel('Password', { exact: true }).fill('wrong');
  await submit.click();
  await settle(page);
  check(await page.getByText('did not accept').isVisible(), 'wrong credentials are reported');
  await page.getByLabel('User name', { exact: true }).fill(USER);
  await page.getByLabel('Password', { exact: true }).fill(USER);
  await submit.click();
  await settle(page);
  check(await page.getByText('Logged in as admin').isVisible(), 'the caller is named');
  check((await page.getByRole('alert').count()) === 0, 'the list is shown after the login');
  await page.getByRole('button', { name: 'Log out' }).click();
  await settle(page);
  check((await page.getByRole('row').count()) === 0, 'no row stays after the logout');
}

/** Stored texts that a careless page would run. */
const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  'javascript:alert(1)',
  'a\u202Ecba',
  `long ${'x'.repeat(5_000)}`,
];

async function showHostileTexts(page: Page): Promise<void> {
  for (const text of HOSTILE)
    await page.request.post(`${ORIGIN}/rest/v1/edu/course/`, { data: { name: text.slice(0, 75) } });
  await open(page, '/rest/v1/edu/course/');
  check(
    await page.getByText('<img src=x onerror=alert(1)>', { exact: true }).first().isVisible(),
    'markup is shown as text',
  );
  check(
    (await page.locator('a[href^="javascript:"], main img').count()) === 0,
    'no text becomes a link or an image',
  );
  check(
    await page.getByText('a‹U+202E›cba', { exact: true }).first().isVisible(),
    'characters that change the direction are escapes',
  );
}

async function run(): Promise<void> {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ARGUMENTS,
  });
  try {
    const page = await browser.newPage({ locale: 'en-US' });
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(ORIGIN) && !request.url().startsWith('data:'))
        problems.push(request.url());
    });
    await lookAround(page);
    await logIn(page);
    await showHostileTexts(page);
    // The browser reports each refused request itself.
    const refusals = problems.length;
    await openRefused(page);
    const unexpected = problems.slice(refusals).filter((text) => !/status of 401/.test(text));
    problems.splice(refusals, Infinity, ...unexpected);
    check(problems.length === 0, `no error, and no request elsewhere ${problems.join('; ')}`);
    mkdirSync(PICTURES, { recursive: true });
    for (const path of ['/', '/rest/v1/polls/choice/', '/rest/v1/polls/question/1/', '/rest/v1/none/'])
      for (const scheme of ['light', 'dark'] as const) {
        await checkAccessibility(browser, path, scheme);
        await page.emulateMedia({ colorScheme: scheme });
        await open(page, path);
        await page.screenshot({ path: join(PICTURES, `${path.replaceAll('/', '-')}-${scheme}.png`) });
      }
  } finally {
    await browser.close();
  }
}

const server = spawn(process.execPath, [resolve('dist/sample-app/main.js')], {
  // The sample creates and fills its database in the working directory.
  cwd: FOLDER,
  env: { ...process.env, PORT: String(PORT) },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  await new Promise<void>((resolve, reject) => {
    server.once('exit', () => {
      reject(
        new Error('The sample application has ended. Build it with: npm run build && npm run build:sample'),
      );
    });
    server.stdout.on('data', (text: Buffer) => {
      if (text.toString().includes('Listening')) resolve();
    });
  });
  await run();
} finally {
  server.kill();
  rmSync(FOLDER, { recursive: true, force: true });
}
console.log(`${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;
