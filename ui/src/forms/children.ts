import { useEffect, useState } from 'preact/hooks';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { JSON_TYPE } from '../api/client.js';
import { toReply } from '../api/load.js';
import { toListPage } from '../api/page.js';
import type { Row } from '../api/page.js';
import { keyTextOf, labelOf, modelNameOf } from '../values/label.js';
import { usePage } from '../views/context.js';
import type { PageContext } from '../views/context.js';
import { specsOf } from './field-spec.js';
import type { FieldSpec } from './field-spec.js';

/** An object of a relation that is written in the body of its parent. */
export interface Child {
  /** The text of its key in URLs. */
  readonly key: string;
  /** What a body calls it: the fields of its key. */
  readonly named: Readonly<Record<string, unknown>>;
  readonly label: string;
  readonly row: Row;
}

/** How the objects of a relation are written in the body of their parent. */
export interface Children {
  /** The name of their model, for people. */
  readonly model: string;
  /** Whether there is at most one. */
  readonly isOne: boolean;
  /** Whether the parent is new, so that a body has new children without a verb. */
  readonly isNew: boolean;
  /** The fields of new children; undefined if none can be created. */
  readonly create: readonly FieldSpec[] | undefined;
  /** The fields of those that are there; undefined if they cannot be changed. */
  readonly update: readonly FieldSpec[] | undefined;
  readonly deletes: boolean;
  /** Those that are there, as far as the first page of their list shows them. */
  readonly rows: readonly Child[];
}

/** The parent of a form. */
export interface FormParent {
  readonly description: RouteDescription;
  readonly method: 'POST' | 'PUT';
  /** The path of the list, or of the object. */
  readonly url: string;
  /** The object as it was read. */
  readonly row?: Row;
}

/** The fields of a form, with what is known of children; undefined until it is. Where nothing is, they are written as JSON. */
export function useSpecs({ description, method, url, row }: FormParent): readonly FieldSpec[] | undefined {
  const page = usePage();
  const specs = specsOf(description, method);
  const nested = specs.filter(
    ({ readOnly, relation, startsEmpty }) => !readOnly && startsEmpty && relation?.children,
  );
  const [found, setFound] = useState<readonly FieldSpec[] | undefined>(
    nested.length === 0 ? specs : undefined,
  );
  useEffect(() => {
    if (nested.length === 0) return undefined;
    const controller = new AbortController();
    const describe = async (spec: FieldSpec): Promise<FieldSpec> => {
      if (!nested.includes(spec)) return spec;
      try {
        const reading: Reading = { page, signal: controller.signal, method, url, row };
        const children = await readChildren(spec, reading);
        return children ? { ...spec, nested: children } : spec;
      } catch {
        return spec;
      }
    };
    void Promise.all(specs.map(describe)).then((known) => {
      if (!controller.signal.aborted) setFound(known);
    });
    return () => {
      controller.abort();
    };
  }, [url]);
  return found;
}

interface Reading extends Omit<FormParent, 'description' | 'row'> {
  readonly page: PageContext;
  readonly signal: AbortSignal;
  readonly row: Row | undefined;
}

async function readChildren(spec: FieldSpec, reading: Reading): Promise<Children | undefined> {
  const { page, signal, method } = reading;
  const { relation } = spec;
  const list = relation?.url == null ? undefined : page.links.toLocal(relation.url);
  const description = list === undefined ? undefined : await page.loader.describeUrl(list, signal);
  if (!description || list === undefined || !relation?.children) return undefined;
  const { verbs, given } = relation.children;
  const isOne = spec.isOne === true;
  const rows = method === 'POST' ? [] : await readRows(spec, { ...reading, list, description });
  const [first] = rows;
  const object = first && (await page.loader.describeUrl(`${list}${first.key}/`, signal));
  const own = (specs: readonly FieldSpec[]): readonly FieldSpec[] =>
    // Objects in objects are written at their own URL.
    specs.filter(({ name, readOnly, startsEmpty }) => !readOnly && !startsEmpty && !given.includes(name));
  const may = (
    verb: (typeof verbs)[number],
    at: RouteDescription | undefined,
    methods: readonly string[],
  ): boolean => verbs.includes(verb) && methods.some((each) => at?.methods.includes(each));
  return {
    model: modelNameOf(description),
    isOne,
    isNew: method === 'POST',
    create: may('create', description, ['POST']) ? own(specsOf(description, 'POST')) : undefined,
    update: object && may('update', object, ['PATCH', 'PUT']) ? own(specsOf(object, 'PUT')) : undefined,
    deletes: may('delete', object, ['DELETE']),
    rows,
  };
}

interface ReadingRows extends Reading {
  readonly list: string;
  readonly description: RouteDescription;
}

/** The children that are there: the one to which a key refers, or the first page of the list below the object. */
async function readRows(
  spec: FieldSpec,
  { page, signal, url, row, list, description }: ReadingRows,
): Promise<readonly Child[]> {
  const { client, links } = page;
  const key = row?.[spec.name];
  if (spec.isOne && (key === null || key === undefined)) return [];
  const path = spec.isOne ? `${list}${encodeURIComponent(String(key))}/` : `${url}${spec.name}/`;
  const reply = await toReply(await client.get(path, { accept: JSON_TYPE, signal, prefer: 'count=none' }));
  if (reply.status !== 200) return [];
  const { pagination } = spec.isOne ? {} : ((await page.loader.describeUrl(path, signal)) ?? {});
  const rows = spec.isOne ? [reply.value as Row] : toListPage({ ...reply, pagination }, links).rows;
  return rows.flatMap((each) => {
    const text = keyTextOf(each, description.key, description.key_is_text);
    const named = Object.fromEntries((description.key ?? []).map((name) => [name, each[name]]));
    return text === undefined ? [] : [{ key: text, named, label: labelOf(each, description), row: each }];
  });
}
