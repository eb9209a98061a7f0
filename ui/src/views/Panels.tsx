import type { JSX } from 'preact';
import { isIndex } from '../api/load.js';
import type { Loaded } from '../api/load.js';
import { text } from '../messages/messages.js';
import { usePage } from './context.js';
import { ModelPanel } from './ModelPanel.js';
import { RequestPanel } from './RequestPanel.js';

/** What one needs to understand a URL: the request, the model, and the documents of the application. */
export function Panels({ loaded }: { readonly loaded: Loaded }): JSX.Element {
  const { config } = usePage();
  const { openApi, ui } = config.documents;
  const { description } = loaded;
  return (
    <div class="panels">
      <RequestPanel reply={loaded.reply} isOpen={description !== undefined && isIndex(description)} />
      {description && !isIndex(description) && <ModelPanel description={description} />}
      {(openApi !== undefined || ui !== undefined) && (
        <p class="hint">
          {text('documents')}: {openApi !== undefined && <a href={openApi}>{text('openApi')}</a>}{' '}
          {ui !== undefined && <a href={ui}>{text('documentation')}</a>}
        </p>
      )}
    </div>
  );
}
