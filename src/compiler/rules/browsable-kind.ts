import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { BrowsableOptions, PageDocuments, PageLogin } from '../../core/contracts/browsable.js';
import { booleanOr, check, flawsAt, isPlainObject, objectWith } from './option-kinds.js';
import type { OptionKind } from './option-kinds.js';

const flag = check((given) => typeof given === 'boolean', 'it is not a boolean', 'Use true or false.');

/** A path of the application, or an http URL: the page links to it. */
const url = check(
  (given) => typeof given === 'string' && /^(\/(?![/\\])|https?:\/\/)/.test(given),
  'it is neither a path nor a URL',
  "Use a path such as '/login', or a URL that begins with https://.",
);

const headerName = check(
  (given) => typeof given === 'string' && isAccepted(validateHeaderName, given),
  'it is not the name of a header',
  "Use a name such as 'X-CSRF-Token'.",
);

const cookieName = check(
  (given) => typeof given === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(given),
  'it is not the name of a cookie',
  "Use a name such as 'csrf-token'.",
);

const PART = {
  what: 'it is not an object',
  repair: 'Use an object of options.',
  noun: 'an option of the page',
};
const CSRF = { cookie: cookieName, header: headerName } satisfies Record<
  keyof NonNullable<PageLogin['csrf']>,
  OptionKind
>;
const LOGIN = { cookie: flag, loginUrl: url, logoutUrl: url, csrf } satisfies Record<
  keyof PageLogin,
  OptionKind
>;
const DOCUMENTS = { openApi: url, ui: url } satisfies Record<keyof PageDocuments, OptionKind>;

function* csrf(given: unknown): ReturnType<OptionKind> {
  yield* objectWith(CSRF, PART)(given);
  for (const name of Object.keys(CSRF))
    if (isPlainObject(given) && given[name] === undefined)
      yield { at: `.${name}`, what: 'it is missing', repair: 'Name both the cookie and the header.' };
}

function* headers(given: unknown): ReturnType<OptionKind> {
  if (!isPlainObject(given)) yield* notAnObject(given);
  for (const [name, value] of Object.entries(isPlainObject(given) ? given : {})) {
    const isHeader =
      typeof value === 'string' &&
      isAccepted(validateHeaderName, name) &&
      isAccepted(validateHeaderValue, name, value);
    if (!isHeader)
      yield {
        at: `.${name}`,
        what: 'it is not a header with a text value',
        repair: "Use names and values of headers, such as { 'X-API-Version': '2' }.",
      };
  }
}

function* messages(given: unknown): ReturnType<OptionKind> {
  if (!isPlainObject(given)) yield* notAnObject(given);
  for (const [language, texts] of Object.entries(isPlainObject(given) ? given : {}))
    yield* flawsAt(`.${language}`, /^[a-z]{2,3}$/.test(language) ? textsOf(texts) : noLanguage(texts));
}

const noLanguage = check(
  () => false,
  'it is not a language',
  "Use a code of two or three letters, such as 'fr'.",
);

function* textsOf(given: unknown): ReturnType<OptionKind> {
  if (!isPlainObject(given)) yield* notAnObject(given);
  for (const [name, text] of Object.entries(isPlainObject(given) ? given : {}))
    if (typeof text !== 'string') yield { at: `.${name}`, what: 'it is not a text', repair: 'Use a string.' };
}

const notAnObject = check(() => false, PART.what, PART.repair);

function isAccepted<Given extends string[]>(validate: (...given: Given) => void, ...given: Given): boolean {
  try {
    validate(...given);
    return true;
  } catch {
    return false;
  }
}

/** Verifies the option `browsable`: a boolean, or `BrowsableOptions`. */
export const browsable = booleanOr(
  objectWith(
    {
      headers,
      login: objectWith(LOGIN, PART),
      documents: objectWith(DOCUMENTS, PART),
      messages,
    } satisfies Record<keyof BrowsableOptions, OptionKind>,
    {
      what: 'it is neither a boolean nor an object',
      repair: 'Use true, or an object of options.',
      noun: 'an option of the page',
    },
  ),
);
