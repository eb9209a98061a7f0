import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { isIndex } from '../api/load.js';
import type { Loaded } from '../api/load.js';
import { summaryOf } from '../api/summary.js';
import { text } from '../messages/messages.js';
import type { PageState } from './App.js';
import { BackLink } from './BackLink.js';
import { Breadcrumbs } from './Breadcrumbs.js';
import { Caller } from './Caller.js';
import { FailedView } from './FailedView.js';
import { IndexView } from './IndexView.js';
import { ListView } from './ListView.js';
import { Login } from './Login.js';
import { ObjectView } from './ObjectView.js';
import { Panels } from './Panels.js';
import { Progress } from './Progress.js';
import { SummaryView } from './SummaryView.js';
import { isObjectUrl, titleOf } from './title.js';
import type { LoginAttempt } from './use-login.js';
import { usePage } from './context.js';

interface FrameProps {
  readonly state: PageState;
  /** What has happened, such as that an object was saved. */
  readonly notice: string;
  readonly showsLogin: boolean;
  setShowsLogin(shows: boolean): void;
  readonly login: LoginAttempt;
  clearNotice(): void;
  cancel(): void;
}

/** What the objects of the model are, where it says so. */
function About({ loaded }: { readonly loaded: Loaded | undefined }): JSX.Element | null {
  const about = loaded?.description?.description ?? '';
  return about === '' ? null : <p class="hint">{about}</p>;
}

/** What surrounds each view: the header with the caller, the way back, and the panels. */
export function Frame(props: FrameProps): JSX.Element {
  const { state, notice, showsLogin, setShowsLogin, login, cancel } = props;
  const loaded = state.kind === 'loaded' ? state.loaded : undefined;
  const shown = shownIn(state);
  const isRefused = shown?.reply.status === 401;
  const title = shown ? titleOf(shown) : text('title');
  const closeLogin = (): void => {
    setShowsLogin(false);
  };
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
      {/* What was done is told until something else is done. */}
      <main
        id="content"
        tabIndex={-1}
        aria-busy={state.kind === 'loading'}
        onClickCapture={notice === '' ? undefined : props.clearNotice}
      >
        {shown && <BackLink loaded={shown} />}
        <h1>{title}</h1>
        <About loaded={shown} />
        <p class="notice" role="status">
          {notice}
        </p>
        <Progress isActive={state.kind === 'loading'} cancel={cancel} />
        {(showsLogin || isRefused) && (
          <Login reply={shown?.reply} attempt={login} close={isRefused ? undefined : closeLogin} />
        )}
        <LoadProblem state={state} />
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

function View({ loaded }: { readonly loaded: Loaded }): JSX.Element | null {
  const { description, reply } = loaded;
  // The form to log in says it.
  if (reply.status === 401) return null;
  if (description && !isIndex(description) && (reply.status === 200 || reply.status === 400)) {
    const summary = summaryOf(loaded.url, description);
    const { aggregates } = description;
    if (summary && aggregates)
      return <SummaryView loaded={loaded} description={description} names={aggregates} summary={summary} />;
  }
  if (reply.status >= 400) return <FailedView loaded={loaded} />;
  if (isIndex(description)) return <IndexView description={description} />;
  return hasRows(loaded) ? <ListView loaded={loaded} /> : <ObjectView loaded={loaded} />;
}

/** Whether there are rows: at the URL of a list, a method of the application may respond with anything else. */
function hasRows({ description, reply: { value } }: Loaded): boolean {
  if (Array.isArray(value)) return true;
  if (!description || isIndex(description) || isObjectUrl(description)) return false;
  const rows = description.pagination?.rows ?? 'results';
  return Array.isArray((value as Readonly<Record<string, unknown>> | null | undefined)?.[rows]);
}

/** Why nothing is shown, if nothing could be loaded. */
function LoadProblem({ state: { kind } }: Pick<FrameProps, 'state'>): JSX.Element | null {
  const { reload } = usePage();
  if (kind !== 'failed' && kind !== 'cancelled') return null;
  return (
    <div class="problem" role="alert">
      <p>{text(kind === 'failed' ? 'networkError' : 'cancelled')}</p>
      <button
        type="button"
        onClick={() => {
          reload();
        }}
      >
        {text('retry')}
      </button>
    </div>
  );
}
