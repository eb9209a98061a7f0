import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { isIndex } from '../api/load.js';
import type { Loaded } from '../api/load.js';
import type { Credentials } from '../api/session.js';
import { text } from '../messages/messages.js';
import type { PageState } from './App.js';
import { Breadcrumbs } from './Breadcrumbs.js';
import { Caller } from './Caller.js';
import { ErrorView } from './ErrorView.js';
import { IndexView } from './IndexView.js';
import { ListView } from './ListView.js';
import { Login } from './Login.js';
import { ObjectView } from './ObjectView.js';
import { Panels } from './Panels.js';
import { Progress } from './Progress.js';
import { titleOf } from './title.js';
import { usePage } from './context.js';

interface FrameProps {
  readonly state: PageState;
  /** What has happened, such as that an object was saved. */
  readonly notice: string;
  readonly showsLogin: boolean;
  setShowsLogin(shows: boolean): void;
  cancel(): void;
  logIn(credentials: Credentials, keep: boolean): void;
}

/** What the objects of the model are, where it says so. */
function About({ loaded }: { readonly loaded: Loaded | undefined }): JSX.Element | null {
  const about = loaded?.description?.description ?? '';
  return about === '' ? null : <p class="hint">{about}</p>;
}

/** What surrounds each view: the header with the caller, the way back, and the panels. */
export function Frame({ state, notice, showsLogin, setShowsLogin, cancel, logIn }: FrameProps): JSX.Element {
  const { reload } = usePage();
  const loaded = state.kind === 'loaded' ? state.loaded : undefined;
  const shown = shownIn(state);
  const isRefused = loaded?.reply.status === 401;
  const title = shown ? titleOf(shown) : text('title');
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    if (loaded && loaded.reply.status < 400) setShowsLogin(false);
  }, [loaded, setShowsLogin]);
  return (
    <>
      <a class="skip" href="#content" onClick={focusContent}>
        {text('skip')}
      </a>
      <header class="top">
        <Breadcrumbs loaded={shown} />
        <Caller
          isRefused={isRefused}
          openLogin={() => {
            setShowsLogin(!showsLogin);
          }}
        />
      </header>
      <main id="content" tabIndex={-1} aria-busy={state.kind === 'loading'}>
        <h1>{title}</h1>
        <About loaded={shown} />
        <p class="notice" role="status">
          {notice}
        </p>
        <Progress isActive={state.kind === 'loading'} cancel={cancel} />
        {(showsLogin || isRefused) && <Login reply={loaded?.reply} logIn={logIn} />}
        {state.kind === 'failed' && <Problem message={text('networkError')} retry={reload} />}
        {state.kind === 'cancelled' && <Problem message={text('cancelled')} retry={reload} />}
        {shown && <View loaded={shown} />}
        {shown && <Panels loaded={shown} />}
      </main>
    </>
  );
}

/** While a URL is loading, the one before is shown. */
function shownIn(state: PageState): Loaded | undefined {
  if (state.kind === 'loaded') return state.loaded;
  return state.kind === 'loading' ? state.before : undefined;
}

function focusContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function View({ loaded }: { readonly loaded: Loaded }): JSX.Element {
  const { description, reply } = loaded;
  if (reply.status >= 400) return <ErrorView reply={reply} />;
  if (isIndex(description)) return <IndexView description={description} />;
  if (Array.isArray(reply.value) || isList(loaded)) return <ListView loaded={loaded} />;
  return <ObjectView loaded={loaded} />;
}

function isList({ description }: Loaded): boolean {
  return (
    description !== undefined &&
    !isIndex(description) &&
    description.kind !== 'object' &&
    description.kind !== 'through-object'
  );
}

function Problem({ message, retry }: { readonly message: string; retry(): void }): JSX.Element {
  return (
    <div class="problem" role="alert">
      <p>{message}</p>
      <button type="button" onClick={retry}>
        {text('retry')}
      </button>
    </div>
  );
}
