import { isUtf8 } from 'node:buffer';
import { expect, test } from '@jest/globals';
import { Utf8Check } from './express-body-text.js';

function holds(pieces: readonly Buffer[]): boolean {
  const check = new Utf8Check();
  for (const piece of pieces) check.add(piece);
  return check.isComplete;
}

const TEXTS = ['', 'plain', 'é', '€', '😀', 'aé€😀z', '\u07ff\u0800\ud7ff\ue000\uffff\ufffd'].map((text) =>
  Buffer.from(text),
);
const BROKEN = [
  [0xff],
  [0xc3],
  [0x80],
  [0xe2, 0x82],
  [0xf0, 0x9f, 0x98],
  [0xc0, 0xaf],
  [0xe0, 0x80, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf8, 0x88, 0x80, 0x80, 0x80],
  [0xc3, 0x28],
  [0x61, 0xe2, 0x28, 0xa1, 0x62],
  [0xf0, 0x28, 0x8c, 0xbc],
].map((bytes) => Buffer.from(bytes));

test.each([...TEXTS, ...BROKEN].map((bytes) => [bytes.toString('hex'), bytes] as const))(
  'judges %j alike, however it is cut',
  (_, bytes) => {
    for (const all of [bytes, Buffer.concat([Buffer.from('x€'), bytes, Buffer.from('é')])]) {
      expect(holds([...all].map((byte) => Buffer.from([byte])))).toBe(isUtf8(all));
      for (let first = 0; first <= all.length; first++) {
        for (let second = first; second <= all.length; second++) {
          expect(holds([all.subarray(0, first), all.subarray(first, second), all.subarray(second)])).toBe(
            isUtf8(all),
          );
        }
      }
    }
  },
);
