import type {
  DescribedValue,
  PageParameters,
  PageSchema,
  PaginationDescription,
} from '../../core/contracts/pagination.js';
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
  const { countParameter, pageSize, maxPageSize } = settings;
  const size: DescribedValue = {
    description: `The number of rows of a page, ${maxPageSize} at most.`,
    schema: { type: 'integer', minimum: 1, default: pageSize },
  };
  const counting: DescribedValue = {
    description: 'Whether to count all rows.',
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
  const described = { ...(standard && { standard }), parameters, missing };
  return settings.style === 'envelope'
    ? { ...described, envelope: describeEnvelope(settings, always) }
    : { ...described, headers: describeHeaders(settings, always) };
}

const LINK: PageSchema = { type: ['string', 'null'], format: 'uri' };

function describeEnvelope(
  { counts, countParameter }: PageSettings,
  always: boolean,
): NonNullable<PaginationDescription['envelope']> {
  const chosen = countParameter !== false;
  const count: PageSchema = { type: always && (chosen || !counts) ? ['integer', 'null'] : 'integer' };
  const members = { ...(always || counts || chosen ? { count } : {}), next: LINK, previous: LINK };
  return { members, optional: !always && chosen ? ['count'] : [], rows: 'results' };
}

function describeHeaders(
  { counts, countParameter }: PageSettings,
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
