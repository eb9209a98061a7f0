import type {
  DescribedValue,
  PageParameters,
  PageSchema,
  PaginationDescription,
} from '../../core/contracts/pagination.js';
import { COUNT_KINDS } from './page-envelope.js';
import type { PageSettings } from './pagination-options.js';

interface DescribedPages {
  readonly settings: PageSettings;
  /** Undefined if no single parameter selects the page. */
  readonly kind?: PageParameters['kind'];
  /** The schemas of the parameters that select the page, by name. */
  readonly place: PaginationDescription['parameters'];
  readonly sizeParameter: string | false;
  /** True if the envelope has a `count`, which may be null. */
  readonly always: boolean;
  readonly missing: boolean;
}

/** The description that the standard paginations share, for the OpenAPI document. */
export function describePages({
  settings,
  kind,
  place,
  sizeParameter,
  always,
  missing,
}: DescribedPages): PaginationDescription {
  const { count, countParameter, countUpTo, pageSize, maxPageSize } = settings;
  const size: DescribedValue = {
    description: `The number of rows of a page, ${maxPageSize} at most.`,
    schema: { type: 'integer', minimum: 1, default: pageSize },
  };
  const counting: DescribedValue = {
    description: `Whether to count all rows; \`estimated\` counts up to ${countUpTo}.`,
    schema: { type: 'string', enum: ['exact', 'estimated', 'none'] },
  };
  const parameters = {
    ...place,
    ...(sizeParameter === false ? {} : { [sizeParameter]: size }),
    ...(countParameter === false ? {} : { [countParameter]: counting }),
  };
  const [position] = Object.keys(place);
  const standard: PageParameters | undefined =
    kind === undefined || position === undefined
      ? undefined
      : {
          kind,
          position,
          size: sizeParameter === false ? undefined : sizeParameter,
          count: countParameter === false ? undefined : countParameter,
          pageSize,
          maxPageSize,
        };
  const counted = { counts: count === false ? undefined : count, countUpTo };
  const described = { ...(standard && { standard }), ...counted, parameters, missing };
  return settings.style === 'envelope'
    ? { ...described, envelope: describeEnvelope(settings, always) }
    : { ...described, headers: describeHeaders(settings, always) };
}

const LINK: PageSchema = { type: ['string', 'null'], format: 'uri' };

function describeEnvelope(
  { counts, countKind, countParameter }: PageSettings,
  always: boolean,
): NonNullable<PaginationDescription['envelope']> {
  const chosen = countParameter !== false;
  const mayBeNull = always && (chosen || !counts);
  const counted: Readonly<Record<string, PageSchema>> = {
    count: { type: mayBeNull ? ['integer', 'null'] : 'integer' },
    ...(countKind && { count_kind: countKindSchema(mayBeNull) }),
  };
  const members = { ...(always || counts || chosen ? counted : {}), next: LINK, previous: LINK };
  return { members, optional: !always && chosen ? Object.keys(counted) : [], rows: 'results' };
}

function countKindSchema(mayBeNull: boolean): PageSchema {
  return mayBeNull
    ? { type: ['string', 'null'], enum: [...COUNT_KINDS, null] }
    : { type: 'string', enum: COUNT_KINDS };
}

function describeHeaders(
  { counts, countKind, countParameter }: PageSettings,
  hasRange: boolean,
): NonNullable<PaginationDescription['headers']> {
  return {
    Link: {
      description: 'Links to other pages (RFC 8288): `first`, `prev`, `next`, `last`.',
      schema: { type: 'string' },
    },
    ...(counts || countParameter !== false
      ? {
          'X-Total-Count': {
            description: 'The total number of rows.',
            schema: { type: 'integer', minimum: 0 },
          },
          ...(countKind && {
            'X-Total-Count-Kind': {
              description: 'What the total number is: `at_least` if counting has stopped.',
              schema: countKindSchema(false),
            },
          }),
        }
      : {}),
    ...(hasRange
      ? {
          'Content-Range': {
            description: 'The range of the rows: `items 0-24/319`.',
            schema: { type: 'string' },
          },
        }
      : {}),
  };
}
