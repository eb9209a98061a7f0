import { useCallback, useRef, useState } from 'preact/hooks';
import { checkLogin } from '../api/check-login.js';
import type { Client } from '../api/client.js';
import type { Loaded } from '../api/load.js';
import type { Credentials, Session } from '../api/session.js';
import { text } from '../messages/messages.js';

interface LoginTools {
  readonly session: Session;
  readonly client: Client;
  /** The path of the index. */
  readonly index: string;
  /** Called when other credentials are in use. */
  onChange(): void;
}

/** An attempt to log in. */
export interface LoginAttempt {
  /** Why the last credentials were rejected; empty before. */
  readonly problem: string;
  readonly isBusy: boolean;
  logIn(credentials: Credentials, keep: boolean): void;
  /** To be called with what was loaded: credentials that the URL of the attempt rejects are forgotten. */
  judge(loaded: Loaded): void;
}

/** Uses credentials only if the server does not reject them. */
export function useLogin({ session, client, index, onChange }: LoginTools): LoginAttempt {
  const [problem, setProblem] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const isNew = useRef(false);
  const attempt = async (credentials: Credentials, keep: boolean): Promise<void> => {
    const checked = await checkLogin(client, index, credentials);
    if (checked.kind === 'rejected') {
      setProblem(checked.message);
      return;
    }
    session.logIn(checked.credentials, keep);
    isNew.current = true;
    onChange();
  };
  const judge = useCallback(
    ({ reply }: Loaded): void => {
      if (!isNew.current) return;
      isNew.current = false;
      if (reply.status !== 401) return;
      session.drop();
      setProblem(text('wrongCredentials'));
    },
    [session],
  );
  return {
    problem,
    isBusy,
    logIn: (credentials, keep) => {
      setProblem('');
      setIsBusy(true);
      attempt(credentials, keep)
        .catch(() => {
          setProblem(text('networkError'));
        })
        .finally(() => {
          setIsBusy(false);
        });
    },
    judge,
  };
}
