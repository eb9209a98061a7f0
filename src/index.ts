import 'reflect-metadata';

export { RestifyModule } from './restify.module.js';
export type { RestifyModuleAsyncOptions } from './restify.module.js';
export type { RestifyModuleOptions } from './restify.options.js';

export { Restify, restify } from './decorators/restify.decorator.js';
export type { FieldType } from './core/schema/field-type.js';
export type { ExpandPathOf, PathOf, PropertyOf, RestifyOptions } from './decorators/model-options.js';

export { RestifyResources } from './nest/restify-resources.service.js';
export type {
  ActorOperations,
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
export type { CustomFilter, ParameterKind } from './core/contracts/custom-filter.js';
export type { QueryLimits } from './core/schema/limits.js';
export type { ParameterNames } from './core/schema/parameter-names.js';
export { SearchFilter } from './features/filtering/search-filter.js';
export { OrderingFilter } from './features/filtering/ordering-filter.js';
export { JsonServerFilter } from './features/filtering/json-server-filter.js';
export { JsonServerSearch } from './features/filtering/json-server-search.js';
export { JsonServerOrdering } from './features/filtering/json-server-ordering.js';
export { JsonServerPagination } from './features/pagination/json-server-pagination.js';
export type { JsonServerOptions } from './features/pagination/json-server-pagination.js';
export type {
  FilterBackend,
  FilterContext,
  FilterResult,
  ListKind,
} from './core/contracts/filter-backend.js';
export { LimitOffsetPagination } from './features/pagination/limit-offset-pagination.js';
export type { LimitOffsetOptions } from './features/pagination/limit-offset-pagination.js';
export { PageNumberPagination } from './features/pagination/page-number-pagination.js';
export type { PageNumberOptions } from './features/pagination/page-number-pagination.js';
export { CursorPagination } from './features/pagination/cursor-pagination.js';
export type { CursorOptions } from './features/pagination/cursor-pagination.js';
export type { PageOptions } from './features/pagination/pagination-options.js';
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
export type { RenderedRows, Renderer } from './core/contracts/renderer.js';
export type { ErrorContext, ErrorListener } from './core/contracts/error-listener.js';
export type { ErrorFormat } from './core/contracts/error-format.js';
export type { FieldSelectionOptions } from './core/contracts/field-selection.js';
export type { BulkOperation, BulkOptions } from './core/contracts/bulk.js';
export type { ConditionalOptions } from './core/contracts/conditional.js';
export type { IdempotencyOptions } from './core/contracts/idempotency.js';
export { IdempotencyRecord } from './adapters/typeorm/idempotency/idempotency-record.js';
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
export { allow, deny, hide } from './core/contracts/permission.js';
export type {
  AccessContext,
  Allowance,
  FieldSet,
  Grant,
  Hiding,
  Permission,
  Denial,
} from './core/contracts/permission.js';
export { allOf, anyOf, not } from './core/contracts/permission-expression.js';
export type { PermissionClass, PermissionExpression } from './core/contracts/permission-expression.js';
export { ActorPermissionSource, PermissionSource } from './core/contracts/permission-source.js';

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
export { timingSafeEqual } from './features/authentication/timing-safe-equal.js';

export { ResourceController } from './nest/resource.controller.js';
export type { Write } from './nest/resource.controller.js';
export type { HookContext, WriteOperation } from './core/contracts/hooks.js';

export type { ChoiceDescription, FieldDescription } from './core/contracts/field-description.js';
export type { BrowsableOptions, PageDocuments, PageLogin, PageMessages } from './core/contracts/browsable.js';
export { DESCRIPTION_MEDIA_TYPE } from './core/contracts/route-description.js';
export type {
  ActionDescription,
  BulkDescription,
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
  ValueKind,
} from './core/contracts/route-description.js';

export type { GuardLike } from './core/contracts/guard.js';
export type { InterceptorLike } from './core/contracts/interceptor.js';
export type { PipeLike } from './core/contracts/pipe.js';
export type { Throttle } from './core/contracts/throttle.js';

export type { Actor } from './core/schema/actor.js';
export type { Field } from './core/schema/field.js';
export type { Method, Operation } from './core/schema/operation.js';
export type { Resource } from './core/schema/resource.js';
export type { ResourceSchema } from './core/schema/resource-schema.js';

export { DeclarationError } from './core/errors/declaration-error.js';
export type { DeclarationProblem } from './core/errors/declaration-error.js';
export { isRestException, RestException } from './core/errors/rest-exception.js';
export type { FieldErrors, Json, RestErrorResponse } from './core/errors/rest-exception.js';
export { InvalidInput, InvalidPage, NotFound, PermissionDenied } from './core/errors/http-exceptions.js';
