import type { JSX } from 'preact';
import { ActionForm } from '../forms/ActionForm.js';
import { readableName } from '../values/label.js';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { pathOf, withSlash } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { usePage } from './context.js';

interface ActionsProps {
  readonly description: RouteDescription;
  readonly isObject: boolean;
}

/** The methods of the application at this URL. A GET opens outside of this page, because it may be any document. */
export function Actions({ description, isObject }: ActionsProps): JSX.Element | null {
  const { url } = usePage();
  const actions = description.custom.filter(({ object }) => object === isObject);
  if (actions.length === 0) return null;
  const base = withSlash(pathOf(url));
  return (
    <section class="actions" aria-label={text('actions')}>
      <h2>{text('actions')}</h2>
      <ul>
        {actions.map((action) => (
          <li key={action.name}>
            {action.methods.includes('GET') && (
              <a href={`${base}${action.name}/`}>{readableName(action.name)}</a>
            )}
            {action.methods
              .filter((method) => method !== 'GET')
              .map((method) => (
                <ActionForm key={method} action={action} method={method} url={`${base}${action.name}/`} />
              ))}
          </li>
        ))}
      </ul>
    </section>
  );
}
