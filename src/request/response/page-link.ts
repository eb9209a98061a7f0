import type { PageLink } from '../../core/contracts/pagination.js';

/**
 * Links to other pages of a list. `query` is as it was sent, and stands for a query that could be read: its parameters stay
 * in their order, escaped anew, so that nothing of them breaks out of a header. It is read when the first link is asked for: what is
 * wrong with it has been told by then.
 */
export function pageLink(url: string, query: string): PageLink {
  let sent: readonly (readonly [name: string, value: string])[] | undefined;
  return (changes) => {
    sent ??= query.split('&').flatMap((part) => (part === '' ? [] : [pairOf(part)]));
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

function pairOf(part: string): readonly [name: string, value: string] {
  const equals = part.indexOf('=');
  const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));
  return equals < 0 ? [decoded(part), ''] : [decoded(part.slice(0, equals)), decoded(part.slice(equals + 1))];
}
