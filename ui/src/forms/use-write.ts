import { useRef, useState } from 'preact/hooks';
import type { WriteOptions } from '../api/client.js';
import { toReply } from '../api/load.js';
import type { Reply } from '../api/load.js';
import { usePage } from '../views/context.js';

/** A request that changes something. */
export interface Write {
  /** While it is under way, it cannot be sent again. */
  readonly isBusy: boolean;
  /** Resolves to undefined if the server could not be reached, or another request is under way. */
  send(url: string, options: WriteOptions): Promise<Reply | undefined>;
}

export function useWrite(): Write {
  const { client, openLogin } = usePage();
  const [isBusy, setIsBusy] = useState(false);
  // State is only updated with the next rendering, which a second click may precede.
  const isSending = useRef(false);
  return {
    isBusy,
    send: async (url, options) => {
      if (isSending.current) return undefined;
      isSending.current = true;
      setIsBusy(true);
      try {
        const reply = await toReply(await client.send(url, options));
        if (reply.status === 401) openLogin();
        return reply;
      } catch {
        return undefined;
      } finally {
        isSending.current = false;
        setIsBusy(false);
      }
    },
  };
}

/** A key for `Idempotency-Key`, of 128 random bits. `crypto.randomUUID` needs a secure context. */
export function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
