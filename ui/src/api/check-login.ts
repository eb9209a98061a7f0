import type { IndexDescription } from '../../../src/core/contracts/route-description.js';
import { text } from '../messages/messages.js';
import { messagesOf } from '../values/error-messages.js';
import { DESCRIPTION_TYPE } from './client.js';
import type { Client } from './client.js';
import { isIndex, toReply } from './load.js';
import type { Loaded } from './load.js';
import type { Credentials } from './session.js';

/** Credentials as the server knows them, or why it rejects them. */
export type LoginCheck =
  | { readonly kind: 'accepted'; readonly credentials: Credentials }
  | { readonly kind: 'rejected'; readonly message: string };

/**
 * Asks the server who presents these credentials, by the description of the index. Credentials of which it says nothing are
 * accepted without being confirmed: guards of single models may know them. Rejects if the server cannot be reached.
 */
export async function checkLogin(
  client: Client,
  index: string,
  credentials: Credentials,
): Promise<LoginCheck> {
  const reply = await toReply(await client.get(index, { accept: DESCRIPTION_TYPE, credentials }));
  const { status, value } = reply;
  const caller = status === 200 ? callerOf(value as Loaded['description']) : undefined;
  if (status === 401 || caller?.refused === true)
    return { kind: 'rejected', message: text('wrongCredentials') };
  if (status === 429 || status >= 500)
    return { kind: 'rejected', message: messagesOf(value).join(' ') || text('serverErrorPlain', { status }) };
  if (caller?.authenticated !== true) return { kind: 'accepted', credentials };
  return {
    kind: 'accepted',
    credentials: { ...credentials, name: caller.label ?? credentials.name, isConfirmed: true },
  };
}

function callerOf(description: Loaded['description']): IndexDescription['caller'] | undefined {
  return isIndex(description) ? description.caller : undefined;
}
