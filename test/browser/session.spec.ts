// @tags http
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Body, Controller, Get, Header, Post, Redirect, Req, Res } from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { IsAuthenticated, Restify } from 'nestjs-restify';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastifyCookie from '@fastify/cookie';
import fastifySession from '@fastify/session';
import type { NextFunction, Request, Response } from 'express';
import expressSession from 'express-session';
import { Passport } from 'passport';
import { Strategy as LocalStrategy } from 'passport-local';
import type { Browser } from 'playwright-core';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { openBrowser, RUNS_BROWSER, Visitor } from './open-browser.js';

@Restify({ app: 'session', permissions: [IsAuthenticated] })
@Entity('session_diary')
class Diary {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  text: string;
}

const SECRET = 'a secret of the session, of 32 characters or more';
const DIARY = '/rest/v1/session/diary/';
const CSRF_HEADER = 'x-csrf-token';
const isUser = (name: unknown, password: unknown): boolean => name === 'ann' && password === 'pass';
const isUnsafe = (method: string): boolean => !['GET', 'HEAD', 'OPTIONS'].includes(method);

/** What both libraries keep in the session. */
interface Stored {
  user?: { username: string };
  csrf?: string;
}

interface SessionRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  session: Stored & { destroy(done: () => void): void };
  user?: object;
}

/** The application's own check. Without it, the interface alone refuses what other sites send. */
let checksToken = true;
/** The unsafe requests of the API in a test, as the server received them. */
let writes: SessionRequest[] = [];

/** Whether an unsafe request of the API has the token of its session. */
function isAdmitted(request: SessionRequest): boolean {
  const { method, url, headers, session } = request;
  if (!isUnsafe(method) || !url.startsWith('/rest/')) return true;
  writes.push(request);
  return !checksToken || headers[CSRF_HEADER] === session.csrf;
}

const passport = new Passport();
passport.use(
  new LocalStrategy((username, password, done) => {
    done(null, isUser(username, password) ? { username } : false);
  }),
);
passport.serializeUser((user, done) => {
  done(null, (user as { username: string }).username);
});
passport.deserializeUser((username: string, done) => {
  done(null, { username });
});

/** The session of an Express application: express-session, and Passport's strategy for a user name and a password. */
function useExpressSession(app: INestApplication): void {
  app.use(expressSession({ secret: SECRET, resave: false, saveUninitialized: false, name: 'sid' }));
  app.use(passport.initialize());
  app.use(passport.session());
  app.use((request: SessionRequest, response: Response, next: NextFunction) => {
    if (isAdmitted(request)) next();
    else response.status(403).json({ detail: 'CSRF Failed: CSRF token missing or incorrect.' });
  });
}

/** The used part of Nest's application on Fastify. */
interface FastifyApplication {
  register(plugin: unknown, options?: object): Promise<unknown>;
  getHttpAdapter(): {
    getInstance(): {
      addHook(
        name: 'preHandler',
        hook: (request: SessionRequest, reply: FastifyReply) => Promise<void>,
      ): void;
    };
  };
}

interface FastifyReply {
  code(status: number): { send(body: object): PromiseLike<void> };
}

/** The session of a Fastify application: @fastify/session. */
function useFastifySession(app: FastifyApplication): void {
  void app.register(fastifyCookie);
  void app.register(fastifySession, {
    secret: SECRET,
    cookieName: 'sid',
    saveUninitialized: false,
    cookie: { secure: false },
  });
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('preHandler', async (request, reply) => {
      if (request.session.user) request.user = request.session.user;
      if (!isAdmitted(request))
        await reply.code(403).send({ detail: 'CSRF Failed: CSRF token missing or incorrect.' });
    });
}

interface CookieSetter {
  header?(name: string, value: string): unknown;
  setHeader?(name: string, value: string): unknown;
}

/** The login page of the application. */
@Controller()
class Login {
  @Get('login')
  @Header('content-type', 'text/html')
  page(): string {
    return '<form method=post action=/login><input name=username aria-label=Name><input name=password aria-label=Password><button>Enter</button></form>';
  }

  @Post('login')
  @Redirect(DIARY, 303)
  async login(
    @Req() request: SessionRequest,
    @Res({ passthrough: true }) response: CookieSetter,
    @Body() body: { readonly username: string; readonly password: string },
  ): Promise<void> {
    if (PLATFORM === 'express')
      await new Promise<void>((resolve, reject) => {
        const authenticate = passport.authenticate('local') as (
          request: Request,
          response: Response,
          next: (error?: unknown) => void,
        ) => void;
        authenticate(request as unknown as Request, response as Response, (error) => {
          if (error instanceof Error) reject(error);
          else resolve();
        });
      });
    else if (isUser(body.username, body.password)) request.session.user = { username: body.username };
    const csrf = randomBytes(16).toString('base64');
    request.session.csrf = csrf;
    const cookie = `csrf=${encodeURIComponent(csrf)}; Path=/`;
    if (response.header) response.header('set-cookie', cookie);
    else response.setHeader?.('set-cookie', cookie);
  }

  @Get('logout')
  @Redirect(DIARY, 303)
  async logout(@Req() request: SessionRequest): Promise<void> {
    await new Promise<void>((resolve) => {
      request.session.destroy(resolve);
    });
  }
}

(RUNS_BROWSER ? describe : describe.skip)('the page with a session of the application', () => {
  let started: StartedApp;
  let browser: Browser;
  let visitor: Visitor;
  /** Pages of another site, or of another port of this one. */
  let foreign: Server;
  let attack = '';
  beforeAll(async () => {
    started = await startApp({
      entities: [Diary],
      controllers: [Login],
      compare: false,
      undescribed: 'all',
      restify: {
        browsable: {
          login: {
            cookie: true,
            csrf: { cookie: 'csrf', header: CSRF_HEADER },
            loginUrl: '/login',
            logoutUrl: '/logout',
          },
        },
      },
      configure: (app) => {
        if (PLATFORM === 'fastify') useFastifySession(app as unknown as FastifyApplication);
        else useExpressSession(app);
      },
    });
    browser = await openBrowser();
    foreign = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(attack);
    }).listen(0, '127.0.0.1');
  });
  beforeEach(async () => {
    checksToken = true;
    await started.dataSource.manager.clear(Diary);
    await started.dataSource.manager.save(Diary, { text: 'dear diary' });
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

  const texts = async (): Promise<readonly string[]> =>
    (await started.dataSource.manager.find(Diary, { order: { id: 'ASC' } })).map(({ text }) => text);
  const logIn = async (): Promise<void> => {
    const { page } = visitor;
    await visitor.goto(DIARY);
    await page.getByText('You may not do this.').first().waitFor();
    await page.getByRole('link', { name: 'Log in' }).first().click();
    await page.getByLabel('Name').fill('ann');
    await page.getByLabel('Password').fill('pass');
    await page.getByRole('button', { name: 'Enter' }).click();
    await visitor.settle();
  };

  test('logs in by the login page of the application, reads, writes with the CSRF token, and logs out', async () => {
    const { page } = visitor;
    await logIn();
    expect(visitor.url).toBe(DIARY);
    expect(await visitor.column('Text')).toEqual(['dear diary']);
    expect(await page.context().cookies()).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'sid', httpOnly: true })]),
    );
    await visitor.click('button', /^(New|Add to) /);
    await visitor.field(/^Text/).fill('written');
    await visitor.submit(/^(Create|Add to) /);
    await page.getByText('Created.').waitFor();
    await visitor.click('button', 'Change');
    await visitor.field(/^Text/).fill('changed');
    await visitor.submit('Save');
    await page.getByText('Saved.').waitFor();
    expect(await texts()).toEqual(['dear diary', 'changed']);
    await page.getByRole('link', { name: 'Log out' }).click();
    await page.getByText('You may not do this.').first().waitFor();
    expect(await page.getByText('dear diary').count()).toBe(0);
    expect(visitor.problems).toEqual([]);
  });

  test('without its CSRF token the application refuses the write, and what was typed is kept', async () => {
    const { page } = visitor;
    await logIn();
    await visitor.click('button', /^(New|Add to) /);
    await visitor.field(/^Text/).fill('kept');
    await page.context().clearCookies({ name: 'csrf' });
    await visitor.submit(/^(Create|Add to) /);
    await page.getByText(/CSRF Failed/).waitFor();
    expect(await visitor.field(/^Text/).inputValue()).toBe('kept');
    expect(await texts()).toEqual(['dear diary']);
  });

  test.each([
    ['another site', 'evil.example', 'cross-site'],
    ['another port of this site', '127.0.0.1', 'same-site'],
  ])('a form of %s is sent with the cookies, and writes nothing', async (_title, host, site) => {
    await logIn();
    checksToken = false;
    writes = [];
    const { page } = visitor;
    // Chromium sends a cookie without SameSite with a form of another site for two minutes after it was set.
    attack = `<form id=f method=post action="${visitor.origin}${DIARY}"></form>`;
    const other = await page.context().newPage();
    await other.goto(`http://${host}:${(foreign.address() as AddressInfo).port}/`);
    const answered = other.waitForResponse((response) => response.url().endsWith(DIARY));
    await other.evaluate("setTimeout(() => document.getElementById('f').submit())");
    expect((await answered).status()).toBe(403);
    await other.getByText(/trustedOrigins/).waitFor();
    expect(
      writes.map(({ headers }) => [
        headers['sec-fetch-site'] ?? site,
        String(headers.cookie).includes('sid='),
      ]),
    ).toEqual([[site, true]]);
    expect(await texts()).toEqual(['dear diary']);
    await other.close();
  });

  test('Back after a log out shows nothing of the session, also from the back-forward cache', async () => {
    const { page } = visitor;
    await logIn();
    expect(await visitor.column('Text')).toEqual(['dear diary']);
    // The log out of another tab leaves this one as it is.
    await page.context().clearCookies();
    await page.goto('about:blank');
    await page.goBack();
    await visitor.settle();
    expect(await page.getByText('dear diary').count()).toBe(0);
    // What the browser does where it restores a page without a request.
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    await visitor.settle();
    expect(await page.getByText('dear diary').count()).toBe(0);
  });
});
