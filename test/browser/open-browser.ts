import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Locator, Page, Request } from 'playwright-core';

/** Where `scripts/install-programs.mjs` and the distributions put Chromium. */
const PATHS = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Names of hosts that no resolver knows: another site, and a host without a secure context.
  '--host-resolver-rules=MAP *.example 127.0.0.1',
];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const BROWSER = PATHS.find((path) => path !== undefined && existsSync(path));

/** Throws where Chromium is missing: in CI the tests fail, elsewhere the specs skip them. */
export function openBrowser(): Promise<Browser> {
  if (BROWSER === undefined) throw new Error('Chromium is missing: run node scripts/install-programs.mjs');
  return chromium.launch({ executablePath: BROWSER, args: ARGUMENTS });
}

/** Whether the tests of a browser run: CI fails where it has none. */
export const RUNS_BROWSER = BROWSER !== undefined || process.env.CI !== undefined;

/** What Chromium logs of itself: failed requests, which tests provoke, and a header that plain HTTP cannot have. */
const EXPECTED = /^Failed to load resource|^The Cross-Origin-Opener-Policy header has been ignored/;

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** A person at the page of an application. */
export class Visitor {
  /** Errors of scripts, reports of the policy, and requests to other hosts. Failed requests are not among them: the browser logs them. */
  readonly problems: string[] = [];
  private readonly running = new Set<Request>();

  constructor(
    readonly page: Page,
    readonly origin: string,
  ) {
    page.on('pageerror', (error) => this.problems.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text())) this.problems.push(message.text());
    });
    page.on('requestfinished', (request) => this.running.delete(request));
    page.on('requestfailed', (request) => this.running.delete(request));
    page.on('request', (request) => {
      this.running.add(request);
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(origin))
        this.problems.push(`A request to ${request.url()}`);
    });
  }

  static async open(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await browser.newContext({ locale: 'en-US', timezoneId: 'Europe/Berlin', ...options });
    return new Visitor(await context.newPage(), origin);
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(this.origin + path);
    await this.settle();
  }

  /** Waits until the page shows what it has requested; two seconds at most for requests that a test holds. */
  async settle(): Promise<void> {
    const end = Date.now() + 2000;
    do {
      await this.page.waitForTimeout(60);
      await this.page.locator('main[aria-busy="false"]').waitFor();
    } while (this.running.size > 0 && Date.now() < end);
  }

  async click(role: 'button' | 'link', name: string | RegExp): Promise<void> {
    await this.page
      .getByRole(role, { name, exact: typeof name === 'string' })
      .first()
      .click();
    await this.settle();
  }

  /** An input of the open form, by its label. */
  field(label: string | RegExp): Locator {
    return this.page.locator('.form').last().getByLabel(label);
  }

  /** The button of the open form. */
  async submit(name: string | RegExp): Promise<void> {
    await this.page
      .locator('.form')
      .getByRole('button', { name, exact: typeof name === 'string' })
      .last()
      .click();
    await this.settle();
  }

  async logIn(name: string, password = 'pass'): Promise<void> {
    const { page } = this;
    if ((await page.getByLabel('User name', { exact: true }).count()) === 0)
      await this.click('button', 'Log in');
    await page.getByLabel('User name', { exact: true }).fill(name);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.locator('.login form').getByRole('button', { name: 'Log in' }).click();
    await this.settle();
  }

  /** The texts of the cells of a column of the table. */
  async column(name: string): Promise<readonly string[]> {
    const { page } = this;
    const headers = await page.locator('main > .scroll table thead th').allInnerTexts();
    const at = headers.findIndex((each) => each.replace(/[ ↕↑↓]+$/, '').trim() === name) + 1;
    return page.locator(`main > .scroll table tbody tr > :nth-child(${at})`).allInnerTexts();
  }

  /** The path and query of the address bar. */
  get url(): string {
    return this.page.url().slice(this.origin.length);
  }
}

/** The serious problems of accessibility. The policy of the page forbids the script, so it runs in a page that ignores the policy. */
export async function findBarriers(
  browser: Browser,
  url: string,
  { prepare, ...options }: BrowserContextOptions & { readonly prepare?: (page: Page) => Promise<void> } = {},
): Promise<readonly string[]> {
  const page = await browser.newPage({ bypassCSP: true, locale: 'en-US', ...options });
  await page.goto(url);
  await page.locator('main[aria-busy="false"]').waitFor();
  await prepare?.(page);
  await page.evaluate(AXE);
  const found = await page.evaluate<readonly Violation[]>('axe.run().then(({ violations }) => violations)');
  await page.close();
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160) ?? ''}`);
}
