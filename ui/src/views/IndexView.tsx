import type { JSX } from 'preact';
import type { IndexDescription } from '../../../src/core/contracts/route-description.js';
import { text } from '../messages/messages.js';
import { usePage } from './context.js';
import { Link } from './Link.js';

/** All models, by app. */
export function IndexView({ description }: { readonly description: IndexDescription }): JSX.Element {
  const { links, session } = usePage();
  const apps = [...new Set(description.models.map(({ app }) => app))];
  const { caller, models } = description;
  return (
    <>
      {/* The header names the user of credentials. */}
      {caller.authenticated && caller.label !== null && !session.credentials && (
        <p class="hint">{text('loggedInAs', { name: caller.label })}</p>
      )}
      {models.length > 0 && <p class="hint">{text('aboutIndex')}</p>}
      {models.length === 0 && <p class="hint">{text('noModels')}</p>}
      <div class="apps">
        {apps.map((app) => (
          <section key={app} class="card" aria-label={app}>
            <h2>{app}</h2>
            <ul>
              {models
                .filter((model) => model.app === app)
                .map(({ url, label, model, description: about }) => (
                  <li key={url}>
                    <Link href={links.toLocal(url) ?? url}>{label}</Link>
                    {label.toLowerCase() !== model && <span class="hint"> {model}</span>}
                    {about !== '' && <p class="hint">{about}</p>}
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </div>
    </>
  );
}
