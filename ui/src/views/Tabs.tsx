import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NestedDescription, RouteDescription } from '../../../src/core/contracts/route-description.js';
import { countRows } from '../api/count-rows.js';
import { pathOf, withSlash } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { usePage } from './context.js';
import { Link } from './Link.js';

interface TabsProps {
  /** The path of the object, with a slash at its end. */
  readonly path: string;
  readonly description: RouteDescription;
  /** The numbers of objects that are known, by the name of the list. */
  readonly counts?: Readonly<Record<string, number>> | undefined;
}

/** The object and the lists below it. */
export function Tabs({ path, description, counts }: TabsProps): JSX.Element | null {
  const { url } = usePage();
  if (description.nested.length === 0) return null;
  const here = withSlash(pathOf(url));
  return (
    <nav class="tabs" aria-label={text('details')}>
      <ul>
        <li>
          <Link href={path} current={here === path}>
            {text('details')}
          </Link>
        </li>
        {description.nested.map((nested) => (
          <Tab
            key={nested.name}
            nested={nested}
            href={`${path}${nested.name}/`}
            here={here}
            known={counts?.[nested.name]}
          />
        ))}
      </ul>
    </nav>
  );
}

interface TabProps {
  readonly nested: NestedDescription;
  readonly href: string;
  readonly here: string;
  readonly known: number | undefined;
}

/** A list with its number of objects, once it is asked for: counting may be slow. */
function Tab({ nested, href, here, known }: TabProps): JSX.Element {
  const { client, loader } = usePage();
  const [, rerender] = useState(0);
  const count = known ?? loader.counts.get(href);
  const setCount = (next: string): void => {
    loader.counts.set(href, next);
    rerender((before) => before + 1);
  };
  const countNow = (): void => {
    setCount('…');
    countRows(client, href).then(setCount, () => {
      setCount('?');
    });
  };
  return (
    <li>
      <Link href={href} current={here.startsWith(href)}>
        {nested.label}
      </Link>
      {count === undefined ? (
        <button
          type="button"
          class="small"
          aria-label={text('countList', { list: nested.label })}
          onClick={countNow}
        >
          {text('countNow')}
        </button>
      ) : (
        <span class="badge" role="status">
          {count}
        </span>
      )}
    </li>
  );
}
