import type { PageLink } from '../../core/contracts/pagination.js';

/**
 * Builds links to other pages of a list from the received query string, which has been validated: parameters keep their
 * order and are escaped again, so that none can break out of a header. Parsed when the first link is built.
 */
export function pageLink(url: string, query: string): PageLink {
  let sent: readonly (readonly [name: string, value: string])[] | undefined;
  return (changes) => {
    sent ??= query.split('&').flatMap((part) => (part === '' ? [] : [parsePair(part)]));
    const kept = sent.filter(([name]) => !Object.hasOwn(changes, name));
    const added = Object.entries(changes).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    const text = [...kept, ...added]
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join('&');
    return text === '' ? url : `${url}?${text}`;
  };
}

function parsePair(part: string): readonly [name: string, value: string] {
  const equals = part.indexOf('=');
  const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));
  return equals < 0 ? [decoded(part), ''] : [decoded(part.slice(0, equals)), decoded(part.slice(equals + 1))];
}
