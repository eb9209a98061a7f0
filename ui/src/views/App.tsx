import type { JSX } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PageConfig } from '../../../src/http/browsable/browsable-page.js';
import { Client } from '../api/client.js';
import { Links } from '../api/links.js';
import { Loader } from '../api/load.js';
import type { Loaded } from '../api/load.js';
import { Session } from '../api/session.js';
import { text } from '../messages/messages.js';
import { Page } from './context.js';
import type { PageContext } from './context.js';
import { Frame } from './Frame.js';
import { currentEntry, pushEntry } from './page-history.js';
import { useLogin } from './use-login.js';

/** The state of the current URL. */
export type PageState =
  | { readonly kind: 'loading'; readonly before: Loaded | undefined }
  | { readonly kind: 'loaded'; readonly loaded: Loaded }
  | { readonly kind: 'failed' | 'cancelled' };

function currentUrl(): string {
  return location.pathname + location.search;
}

/** The page: shows the URL of the address bar, and follows it. */
export function App({
  config,
  language,
}: {
  readonly config: PageConfig;
  readonly language: string;
}): JSX.Element {
  const [url, setUrl] = useState(currentUrl);
  const [version, setVersion] = useState(0);
  const [state, setState] = useState<PageState>({ kind: 'loading', before: undefined });
  const aborting = useRef<AbortController>();
  const [notice, setNotice] = useState('');
  const [showsLogin, setShowsLogin] = useState(false);
  const shown = useRef<Loaded>();
  const load = useCallback((message = '') => {
    setNotice(message);
    setVersion((before) => before + 1);
  }, []);

  const [session, client, loader] = useMemo(() => {
    const made = new Session(() => {
      // Nothing that the caller has seen stays on the page.
      setState({ kind: 'loading', before: undefined });
      loads.forget();
      load(text('loggedOut'));
    });
    const sends = new Client(config, made);
    const loads = new Loader(sends);
    return [made, sends, loads] as const;
  }, [config, load]);
  useEffect(() => {
    if (session.wasLost) setNotice(text('loggedOutByReload'));
  }, [session]);
  const links = useMemo(() => new Links(config, location.origin, location.pathname), [config]);

  const reload = useCallback(
    (message = '') => {
      // Something was written.
      if (message !== '') loader.counts.clear();
      load(message);
    },
    [load, loader],
  );
  const navigate = useCallback(
    (next: string, message = '') => {
      pushEntry(next, shown.current);
      setUrl(currentUrl());
      reload(message);
    },
    [reload],
  );
  const login = useLogin({
    session,
    client,
    index: links.index,
    onChange: () => {
      loader.forget();
      load();
    },
  });
  const { judge } = login;

  useEffect(() => {
    history.scrollRestoration = 'manual';
    const follow = (): void => {
      setUrl(currentUrl());
      load();
    };
    const restore = (event: PageTransitionEvent): void => {
      if (!event.persisted) return;
      // A page from the back-forward cache may belong to another caller.
      setState({ kind: 'loading', before: undefined });
      loader.forget();
      follow();
    };
    addEventListener('popstate', follow);
    addEventListener('pageshow', restore);
    return () => {
      removeEventListener('popstate', follow);
      removeEventListener('pageshow', restore);
    };
  }, [load, loader]);

  useEffect(() => {
    const controller = new AbortController();
    aborting.current = controller;
    setState((before) => ({
      kind: 'loading',
      before: before.kind === 'loaded' ? before.loaded : undefined,
    }));
    loader.load(url, controller.signal).then(
      (loaded) => {
        if (controller.signal.aborted) return;
        judge(loaded);
        shown.current = loaded;
        setState({ kind: 'loaded', loaded });
        requestAnimationFrame(() => {
          scrollTo(0, currentEntry().scroll ?? 0);
        });
      },
      () => {
        if (aborting.current === controller)
          setState({ kind: controller.signal.aborted ? 'cancelled' : 'failed' });
      },
    );
    return () => {
      controller.abort();
    };
  }, [url, version, loader, judge]);

  const openLogin = useCallback(() => {
    setShowsLogin(true);
  }, []);
  const context: PageContext = {
    config,
    client,
    loader,
    session,
    links,
    language,
    url,
    navigate,
    openLogin,
    reload,
  };
  return (
    <Page.Provider value={context}>
      <Frame
        state={state}
        notice={notice}
        showsLogin={showsLogin}
        setShowsLogin={setShowsLogin}
        cancel={() => {
          aborting.current?.abort();
        }}
        login={login}
        clearNotice={() => {
          setNotice('');
        }}
      />
    </Page.Provider>
  );
}
