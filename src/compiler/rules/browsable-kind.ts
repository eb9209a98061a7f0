import { validateHeaderName, validateHeaderValue } from 'node:http';
import { didYouMean } from '../../core/errors/declaration-error.js';
import type { BrowsableOptions, PageDocuments, PageLogin } from '../../core/contracts/browsable.js';
import type { OptionFlaw, OptionKind } from './option-flaw.js';

type Check = (given: unknown) => Omit<OptionFlaw, 'at'> | undefined;

const checkFlag: Check = (given) =>
  typeof given === 'boolean' ? undefined : { what: 'it is not a boolean', repair: 'Use true or false.' };

/** A path of the application, or an http URL: the page links to it. */
const checkUrl: Check = (given) =>
  typeof given === 'string' && /^(\/(?![/\\])|https?:\/\/)/.test(given)
    ? undefined
    : {
        what: 'it is neither a path nor a URL',
        repair: "Use a path such as '/login', or a URL that begins with https://.",
      };

const checkHeaderName: Check = (given) =>
  isAccepted(() => {
    validateHeaderName(String(given));
  }) && typeof given === 'string'
    ? undefined
    : { what: 'it is not the name of a header', repair: "Use a name such as 'X-CSRF-Token'." };

const checkCookieName: Check = (given) =>
  typeof given === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(given)
    ? undefined
    : { what: 'it is not the name of a cookie', repair: "Use a name such as 'csrf-token'." };

const LOGIN: Readonly<Record<Exclude<keyof PageLogin, 'csrf'>, Check>> = {
  cookie: checkFlag,
  loginUrl: checkUrl,
  logoutUrl: checkUrl,
};
const CSRF: Readonly<Record<keyof NonNullable<PageLogin['csrf']>, Check>> = {
  cookie: checkCookieName,
  header: checkHeaderName,
};
const DOCUMENTS: Readonly<Record<keyof PageDocuments, Check>> = { openApi: checkUrl, ui: checkUrl };
const PARTS = [
  'headers',
  'login',
  'documents',
  'messages',
] as const satisfies readonly (keyof BrowsableOptions)[];

/** Verifies the option `browsable`: a boolean, or `BrowsableOptions`. */
export const browsable: OptionKind = (given) => {
  if (typeof given === 'boolean') return [];
  if (!isRecord(given))
    return [
      { at: '', what: 'it is neither a boolean nor an object', repair: 'Use true, or an object of options.' },
    ];
  const { headers = {}, login = {}, documents = {}, messages = {}, ...others } = given;
  return [
    ...unknownNames(others, PARTS, ''),
    ...flawsOfHeaders(headers),
    ...flawsOfLogin(login),
    ...flawsIn(documents, DOCUMENTS, '.documents'),
    ...flawsOfMessages(messages),
  ];
};

function flawsOfHeaders(given: unknown): readonly OptionFlaw[] {
  if (!isRecord(given)) return [notAnObject('.headers')];
  return Object.entries(given).flatMap(([name, value]) =>
    typeof value === 'string' &&
    isAccepted(() => {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    })
      ? []
      : [
          {
            at: `.headers.${name}`,
            what: 'it is not a header with a text value',
            repair: "Use names and values of headers, such as { 'X-API-Version': '2' }.",
          },
        ],
  );
}

function flawsOfMessages(given: unknown): readonly OptionFlaw[] {
  if (!isRecord(given)) return [notAnObject('.messages')];
  return Object.entries(given).flatMap(([language, texts]) => {
    const at = `.messages.${language}`;
    if (!/^[a-z]{2,3}$/.test(language))
      return [
        { at, what: 'it is not a language', repair: "Use a code of two or three letters, such as 'fr'." },
      ];
    if (!isRecord(texts)) return [notAnObject(at)];
    return Object.entries(texts).flatMap(([name, text]) =>
      typeof text === 'string'
        ? []
        : [{ at: `${at}.${name}`, what: 'it is not a text', repair: 'Use a string.' }],
    );
  });
}

function flawsOfLogin(given: unknown): readonly OptionFlaw[] {
  if (!isRecord(given)) return [notAnObject('.login')];
  const { csrf, ...others } = given;
  const missing = isRecord(csrf) ? Object.keys(CSRF).filter((name) => csrf[name] === undefined) : [];
  return [
    ...flawsIn(others, LOGIN, '.login'),
    ...(csrf === undefined ? [] : flawsIn(csrf, CSRF, '.login.csrf')),
    ...missing.map((name) => ({
      at: `.login.csrf.${name}`,
      what: 'it is missing',
      repair: 'Name both the cookie and the header.',
    })),
  ];
}

function flawsIn(given: unknown, checks: Readonly<Record<string, Check>>, at: string): readonly OptionFlaw[] {
  if (!isRecord(given)) return [notAnObject(at)];
  const known = Object.entries(checks).flatMap(([name, check]) => {
    const value = given[name];
    const flaw = value === undefined ? undefined : check(value);
    return flaw ? [{ at: `${at}.${name}`, ...flaw }] : [];
  });
  return [...unknownNames(given, Object.keys(checks), at), ...known];
}

function unknownNames(given: object, known: readonly string[], at: string): readonly OptionFlaw[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => ({
      at: `${at}.${name}`,
      what: `"${name}" is not an option of the page`,
      repair: didYouMean(name, known),
    }));
}

function notAnObject(at: string): OptionFlaw {
  return { at, what: 'it is not an object', repair: 'Use an object of options.' };
}

function isRecord(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

function isAccepted(validate: () => void): boolean {
  try {
    validate();
    return true;
  } catch {
    return false;
  }
}
