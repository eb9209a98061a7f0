import 'reflect-metadata';

export { RestifyModule } from './restify.module.js';
export type { RestifyModuleAsyncOptions } from './restify.module.js';
export type { RestifyModuleOptions } from './restify.options.js';

export { Restify, restify } from './declare/restify.decorator.js';
export type { PathOf, PropertyOf, RestifyOptions } from './declare/restify-declaration.js';

export { RestifyResources } from './boot/routing/restify-resources.js';
export type { ActorOperations, KeyInput, ResourceAccess, ResourceOptions } from './boot/routing/restify-resources.js';
export { RestifyUrls } from './boot/routing/restify-urls.js';
export type { ReverseOptions, UrlParameters } from './boot/routing/restify-urls.js';
export { RestifyController } from './boot/routing/restify-controller.decorator.js';
export { ChildPk, CurrentActor, ParentPk, Pk } from './boot/routing/action-context.js';
export { Action, MANY_TO_MANY_DETAIL_ACTION, MANY_TO_MANY_LIST_ACTION, NestedAction, ONE_TO_MANY_LIST_ACTION } from './declare/action-declaration.js';
export type { ActionMethod, ActionOptions, NestedActionKind, NestedActionOptions } from './declare/action-declaration.js';

export { FieldFilter } from './request/filtering/field-filter.js';
export { SearchFilter } from './request/filtering/search-filter.js';
export { OrderingFilter } from './request/ordering/ordering-filter.js';
export type { FilterBackend, FilterQuestion, Filtering } from './model/filter-backend.js';
export { and, or, where } from './model/row-filter.js';
export type { Lookup, RowFilter } from './model/row-filter.js';

export { ModelSerializer } from './request/serializers/model-serializer.js';
export type { ParseContext, ParsedBody, RepresentContext, Representation, Row, Serializer } from './model/serializer.js';

export { AllowAny, IsAdmin, IsAuthenticated, IsAuthenticatedOrReadOnly, ModelPermissions, ModelPermissionsOrAnonReadOnly } from './request/permissions/built-in.js';
export { allow, deny, hide } from './model/permission.js';
export type { AccessQuestion, Allowance, FieldSet, Grant, Permission, Refusal } from './model/permission.js';
export { allOf, anyOf, not } from './model/permission-expression.js';
export type { PermissionClass, PermissionExpression } from './model/permission-expression.js';
export { ActorPermissionSource, PermissionSource } from './model/permission-source.js';

export { basic, strategy } from './model/authentication.js';
export type { Authentication, BasicAuthentication, Credentials, NamedAuthentication, VerifyBasic } from './model/authentication.js';
export { secretsEqual } from './request/authentication/secrets-equal.js';

export { ResourceController } from './boot/resource-controller.js';
export type { Write } from './boot/resource-controller.js';
export type { HookQuestion, WriteOperation } from './model/hooks.js';

export type { GuardLike } from './model/guard.js';
export type { InterceptorLike } from './model/interceptor.js';
export type { PipeLike } from './model/pipe.js';
export type { Throttle } from './model/throttle.js';

export type { Actor } from './model/actor.js';
export type { Field } from './model/field.js';
export type { Method, Operation } from './model/operation.js';
export type { Resource } from './model/resource.js';

export { DeclarationError } from './errors/declaration-error.js';
export type { DeclarationProblem } from './errors/declaration-error.js';
export { isRestError, RestError } from './errors/rest-error.js';
export type { FieldErrors, Json, RestErrorAnswer } from './errors/rest-error.js';
export { InvalidInput, NotFound, PermissionDenied } from './errors/request-errors.js';
