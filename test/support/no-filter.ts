import { expect } from '@jest/globals';

/** The body of 400 for `<name>=<value>`, whose name is no filter of a field that the caller may read (contract 4.5). */
export function noFilter(query: string): unknown {
  const [name = ''] = query.split('=');
  return {
    [name]: [
      expect.stringMatching(
        /^There is no such filter\. (Known here: |Did you mean |There is none to name here)/,
      ),
    ],
  };
}
