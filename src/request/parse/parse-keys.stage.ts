import type { Stage } from '../rest-context.js';
import { parseUrlKeys } from './parse-url-keys.js';

/** Parses the keys in the URL. Throws 404 for a text that can be no key (contract 3.8). */
export const parseKeys: Stage = (context) => {
  context.keys = parseUrlKeys(context);
};
