import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { toCurl } from '../api/code.js';
import { download, fileNameOf, MOST_BYTES, saveFile } from '../api/download.js';
import { pathOf } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { formatBytes } from '../values/format.js';
import { usePage } from './context.js';
import { Menu } from './Menu.js';
import { Progress } from './Progress.js';

/** What became of a download, or how far it is. */
interface DownloadState {
  readonly isActive: boolean;
  readonly message: string;
  readonly command?: string;
}

const IDLE: DownloadState = { isActive: false, message: '' };

/** Saves the list or object in the other formats of the model, with the caller's own credentials. */
export function Downloads({ description }: { readonly description: RouteDescription }): JSX.Element | null {
  const { client, url, language } = usePage();
  const [state, setState] = useState<DownloadState>(IDLE);
  const aborting = useRef<AbortController>();
  const formats = Object.entries(description.formats?.names ?? {});
  if (formats.length === 0) return null;
  const save = async (format: string, accept: string): Promise<void> => {
    const controller = new AbortController();
    aborting.current = controller;
    const tell = (bytes: number): void => {
      setState({ isActive: true, message: text('downloading', { size: formatBytes(bytes, language) }) });
    };
    tell(0);
    const done = await download(client, url, { accept, signal: controller.signal, onProgress: tell });
    if (done.kind === 'complete') {
      const file = fileNameOf(pathOf(url), format, new Date());
      saveFile(done.blob, file);
      setState({
        isActive: false,
        message: text('downloaded', { file, size: formatBytes(done.blob.size, language) }),
      });
      return;
    }
    const command = toCurl(done.exchange.request, location.origin, false);
    setState(
      done.kind === 'too-large'
        ? {
            isActive: false,
            message: text('downloadTooLarge', { size: formatBytes(MOST_BYTES, language) }),
            command,
          }
        : { isActive: false, message: `${done.exchange.response.status} ${text('invalidRequest')}`, command },
    );
  };
  const start = (format: string, accept: string): void => {
    save(format, accept).catch(() => {
      setState({
        isActive: false,
        message: text(aborting.current?.signal.aborted === true ? 'cancelled' : 'networkError'),
      });
    });
  };
  return (
    <Menu label={text('download')}>
      <div class="column">
        {formats.map(([format, mediaType]) => (
          <button
            key={format}
            type="button"
            disabled={state.isActive}
            onClick={() => {
              start(format, mediaType);
            }}
          >
            {text('downloadAs', { format: format.toUpperCase() })}
          </button>
        ))}
        <Progress
          isActive={state.isActive}
          message={state.message}
          cancel={() => {
            aborting.current?.abort();
          }}
        />
        {!state.isActive && state.message !== '' && <p role="status">{state.message}</p>}
        {state.command !== undefined && <pre class="code">{state.command}</pre>}
      </div>
    </Menu>
  );
}
