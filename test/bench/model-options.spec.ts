// @tags core
import { describe, expect, test } from '@jest/globals';
import type { VariantRun } from '../../bench/model-options/measure.js';
import { baselineOf, relative, reportOf } from '../../bench/model-options/report.js';
import { nextPath } from '../../bench/model-options/requests.js';
import { newItem, seededItems, wordOf } from '../../bench/model-options/rows.js';
import { Random } from '../../bench/model-options/random.js';
import { PLAIN_RUNS, sequence } from '../../bench/model-options/sequence.js';
import { READERS } from '../../bench/model-options/users.js';
import { VARIANT_NAMES, variantOf } from '../../bench/model-options/variants.js';
import type { VariantName } from '../../bench/model-options/variants.js';

function runOf(variant: VariantName, ratio: number, first = 500): VariantRun {
  const cost = { cpu: ratio * 100, ratio };
  return { variant, first, costs: { list: cost, retrieve: cost, create: cost, change: cost } };
}

describe('rows', () => {
  test.each(['plain', 'cursor', 'uuid-key'] as const)('%s: each reader owns as many rows', (name) => {
    const variant = variantOf(name);
    const items = seededItems(variant);
    const counts = new Map<number, number>();
    for (const { owner } of items) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    expect([...counts.keys()].sort((one, other) => one - other)).toEqual(
      Array.from({ length: READERS }, (_, at) => at + 1),
    );
    expect(new Set(counts.values())).toEqual(new Set([variant.paged ? 250 : 100]));
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
  });

  test.each(VARIANT_NAMES)('%s: values fit their columns, and titles match the search', (name) => {
    const items = seededItems(variantOf(name));
    const wrong = items.filter(
      ({ title, code, extra, owner }) =>
        !title.includes(wordOf(owner)) ||
        title.length > 100 ||
        title.trim() !== title ||
        code.length > 40 ||
        (typeof extra === 'string' && (extra.trim() !== extra || extra.length > 40)),
    );
    expect(wrong).toEqual([]);
  });

  test('the values of a run are those of the run before', () => {
    const variant = variantOf('json');
    expect(newItem(variant, new Random(7), 3)).toEqual(newItem(variant, new Random(7), 3));
    expect(newItem(variant, new Random(7), 3)).not.toEqual(newItem(variant, new Random(8), 3));
  });
});

describe('sequence', () => {
  test.each([[[]], [['json']], [['json', 'enum', 'cursor']], [VARIANT_NAMES]] as const)(
    'of %j has all variants and equal runs of the plain model',
    (names) => {
      const found = sequence(names);
      expect(found.filter((name) => name === 'plain')).toHaveLength(PLAIN_RUNS);
      expect(found.filter((name) => name !== 'plain')).toEqual(names.filter((name) => name !== 'plain'));
    },
  );
});

describe('the next page', () => {
  test('is in the Link header, or in the envelope', () => {
    const url = 'http://127.0.0.1:3000/rest/v1/shop/item/?owner=3&page=2';
    expect(nextPath(`{"count":250,"next":"${url}","previous":null}`, {})).toBe(
      '/rest/v1/shop/item/?owner=3&page=2',
    );
    expect(nextPath('[]', { Link: `<http://127.0.0.1:3000/a/>; rel="first", <${url}>; rel="next"` })).toBe(
      '/rest/v1/shop/item/?owner=3&page=2',
    );
    expect(nextPath('{"count":1,"next":null}', {})).toBeUndefined();
  });
});

describe('the report', () => {
  const plain = [0.9, 1, 1.1, 1.2, 1.3].map((ratio) => runOf('plain', ratio));

  test('divides by the median of the equal runs', () => {
    expect(relative(runOf('json', 2.2, 1000), baselineOf(plain), 'list')).toBeCloseTo(2);
    expect(relative(runOf('json', 2.2, 1000), baselineOf(plain), 'first')).toBeCloseTo(2);
  });

  test('marks values above the limit, and names the workload', () => {
    const report = reportOf('SQLite', [...plain, runOf('json', 2.2), runOf('enum', 1.21)]);
    expect(report).toContain('| JSON column | **2.00** | **2.00** | **2.00** | **2.00** | 1.00 |');
    expect(report).toContain('| enum column | 1.10 | 1.10 | 1.10 | 1.10 | 1.00 |');
    expect(report).toContain('| plain model, 5 runs | 0.82–1.18 |');
    expect(report).toContain('Above 1.3: JSON column (list: 2.00);');
    expect(reportOf('SQLite', [...plain, runOf('enum', 1.21)])).toContain('No option is above 1.3.');
  });

  test('compares the typical model with the hand-written one', () => {
    const report = reportOf('SQLite', [
      ...plain,
      runOf('typical-basic', 2.2),
      runOf('typical-basic-by-hand', 3.3),
      runOf('typical-basic-limit', 1.5),
      runOf('typical-bearer', 1.1),
      runOf('typical-bearer-by-hand', 2.2),
    ]);
    expect(report).toContain('| by hand ÷ typical model, Basic (goal: ≥ 1.8) | 1.50 (**not met**) |');
    expect(report).toContain('| by hand ÷ typical model, bearer token (goal: ≥ 1.8) | 2.00 |');
    expect(report).toContain('| by hand ÷ the limit | 2.20 | 2.20 | 2.20 | 2.20 | 1.00 |');
  });
});
