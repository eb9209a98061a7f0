import 'reflect-metadata';

export { RestifyModule } from './restify.module.js';
export type { RestifyModuleAsyncOptions } from './restify.module.js';
export type { RestifyModuleOptions } from './restify.options.js';

export { Restify, restify } from './decorators/restify.decorator.js';
export type { FieldType } from './core/schema/field-type.js';
export type { PathOf, PropertyOf } from './core/schema/entity-paths.js';
export type { ExpandPathOf, RestifyOptions } from './decorators/model-options.js';

export { RestifyResources } from './nest/restify-resources.service.js';
export type {
  ActorOperations,
  AggregateGroup,
  AggregateQuery,
  ActorOptions,
  KeyInput,
  MissingIndexOptions,
  ResourceAccess,
  ResourceOptions,
} from './nest/restify-resources.service.js';
export type { IndexUse, MissingIndex } from './core/contracts/missing-index.js';
export { RestifyOpenApi } from './nest/restify-openapi.service.js';
export type { OpenApiOptions } from './nest/restify-openapi.service.js';
export { RestifyOperations } from './nest/restify-operations.service.js';
export { RestifyUrls } from './nest/restify-urls.service.js';
export type { ReverseOptions, UrlParameters } from './nest/restify-urls.service.js';
export { RestifyController } from './nest/restify-controller.decorator.js';
export { ChildPk, CurrentActor, ParentPk, Pk } from './http/action-context.js';
export {
  Action,
  MANY_TO_MANY_DETAIL_ACTION,
  MANY_TO_MANY_LIST_ACTION,
  NestedAction,
  ONE_TO_MANY_LIST_ACTION,
} from './decorators/action.decorator.js';
export type {
  ActionMethod,
  ActionOptions,
  NestedActionKind,
  NestedActionOptions,
} from './decorators/action.decorator.js';

export { FieldFilter } from './features/filtering/field-filter.js';
export { FilterSet } from './features/filtering/filter-set.js';
export type { FilterParameters } from './features/filtering/filter-set.js';
export type { CustomFilter, JsonPathFilter, ParameterKind } from './core/contracts/filters.js';
export type { QueryLimits } from './core/schema/limits.js';
export type { ParameterNames } from './core/schema/resource-schema.js';
export { SearchFilter } from './features/filtering/search-filter.js';
export { OrderingFilter } from './features/filtering/ordering-filter.js';
export {
  JsonServerFilter,
  JsonServerOrdering,
  JsonServerSearch,
} from './features/filtering/json-server-filters.js';
export type { FilterBackend, FilterContext, FilterResult, ListKind } from './core/contracts/filters.js';
export {
  JsonServerPagination,
  LimitOffsetPagination,
  PageNumberPagination,
} from './features/pagination/offset-pagination.js';
export type {
  JsonServerOptions,
  LimitOffsetOptions,
  PageNumberOptions,
} from './features/pagination/offset-pagination.js';
export { CursorPagination } from './features/pagination/cursor-pagination.js';
export type { CursorOptions } from './features/pagination/cursor-pagination.js';
export type { PageOptions } from './features/pagination/standard-pagination.js';
export type {
  CountResult,
  CountKind,
  CursorPosition,
  DescribedValue,
  Page,
  PageResponse,
  PageContext,
  PageLink,
  PageQuery,
  PageRequest,
  PageWindow,
  PageSchema,
  Pagination,
  PaginationDescription,
  PaginationProblem,
} from './core/contracts/pagination.js';
export { CsvRenderer } from './features/rendering/csv-renderer.js';
export type { CsvOptions } from './features/rendering/csv-renderer.js';
export { NdjsonRenderer } from './features/rendering/ndjson-renderer.js';
export type { ExpandedFields, RenderedRows, Renderer } from './core/contracts/renderer.js';
export type { ErrorContext, ErrorFormat, ErrorListener } from './core/contracts/errors.js';
export type { FieldSelectionOptions } from './core/contracts/field-selection.js';
export type { BulkOperation, BulkOptions } from './core/contracts/bulk.js';
export type { ConditionalOptions } from './core/contracts/conditional.js';
export type { IdempotencyOptions } from './core/contracts/idempotency.js';
export { IdempotencyRecord } from './adapters/typeorm/idempotency/typeorm-response-store.js';
export { and, or, where } from './core/query/row-filter.js';
export type { Lookup } from './core/query/lookups.js';
export type { RowFilter } from './core/query/row-filter.js';

export { ModelSerializer } from './features/serialization/model-serializer.js';
export type {
  ParseContext,
  ParsedBody,
  RepresentContext,
  Representation,
  Row,
  Serializer,
} from './core/contracts/serializer.js';

export {
  AllowAny,
  IsAdmin,
  IsAuthenticated,
  IsAuthenticatedOrReadOnly,
  ModelPermissions,
  ModelPermissionsOrAnonReadOnly,
} from './features/permissions/built-in-permissions.js';
export {
  ActorPermissionSource,
  allOf,
  allow,
  anyOf,
  deny,
  hide,
  not,
  PermissionSource,
} from './core/contracts/permission.js';
export type {
  AccessContext,
  Allowance,
  FieldSet,
  Grant,
  Hiding,
  Permission,
  Denial,
} from './core/contracts/permission.js';
export type { PermissionClass, PermissionExpression } from './core/contracts/permission.js';

export { basic, guard, strategy } from './core/contracts/authentication.js';
export type {
  Authentication,
  AuthenticationThrottle,
  BasicAuthentication,
  ChallengeOptions,
  Credentials,
  NamedAuthentication,
  VerifyBasic,
} from './core/contracts/authentication.js';
export { timingSafeEqual } from './features/authentication/credentials.js';

export { ResourceController } from './nest/resource.controller.js';
export type { Write, WriteHooks } from './nest/resource.controller.js';
export type {
  AfterCommit,
  CommitContext,
  CommittedWrite,
  HookContext,
  StoredValues,
  WriteOperation,
} from './core/contracts/hooks.js';

export type { ChoiceDescription, FieldDescription } from './core/contracts/field-description.js';
export type { BrowsableOptions, PageDocuments, PageLogin, PageMessages } from './core/contracts/browsable.js';
export type { ModelLabels } from './core/schema/object-label.js';
export type { AggregateOptions } from './core/contracts/aggregates.js';
export type { FullTextOptions } from './core/contracts/full-text.js';
export { DESCRIPTION_MEDIA_TYPE } from './core/contracts/route-description.js';
export type {
  ActionDescription,
  AggregatesDescription,
  BulkDescription,
  ChildrenDescription,
  ConditionalDescription,
  FilterDescription,
  IndexDescription,
  IndexedModel,
  NestedDescription,
  OrderingDescription,
  PaginationParameters,
  ParentDescription,
  ReadableFieldDescription,
  RelationDescription,
  RouteDescription,
  SearchDescription,
  ShapeDescription,
  TrashDescription,
  ValueKind,
} from './core/contracts/route-description.js';

export type { GuardLike, InterceptorLike, PipeLike } from './core/contracts/enhancers.js';
export type { Throttle } from './core/contracts/throttle.js';

export type { Actor } from './core/schema/caller.js';
export type { Field } from './core/schema/field.js';
export type { Method, Operation } from './core/schema/operation.js';
export type { Resource } from './core/schema/resource.js';
export type { ResourceSchema } from './core/schema/resource-schema.js';

export { DeclarationError } from './core/errors/declaration-error.js';
export type { DeclarationProblem } from './core/errors/declaration-error.js';
export { isRestException, RestException } from './core/errors/rest-exception.js';
export type { FieldErrors, Json, RestErrorResponse } from './core/errors/rest-exception.js';
export { InvalidInput, InvalidPage, NotFound, PermissionDenied } from './core/errors/http-exceptions.js';
