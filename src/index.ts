import 'reflect-metadata';

export { RestifyModule } from './restify.module.js';
export type { RestifyModuleAsyncOptions } from './restify.module.js';
export type { RestifyModuleOptions } from './restify.options.js';

export { Restify, restify } from './declare/restify.decorator.js';
export type { PathOf, PropertyOf, RestifyOptions } from './declare/restify-declaration.js';

export { FieldFilter } from './request/filtering/field-filter.js';
export { SearchFilter } from './request/filtering/search-filter.js';
export { OrderingFilter } from './request/ordering/ordering-filter.js';
export type { FilterBackend, FilterQuestion, Filtering } from './model/filter-backend.js';
export { and, not, or, where } from './model/row-filter.js';
export type { Lookup, RowFilter } from './model/row-filter.js';

export { ModelSerializer } from './request/serializers/model-serializer.js';
export type { ParseContext, ParsedBody, RepresentContext, Representation, Row, Serializer } from './model/serializer.js';

export type { Actor } from './model/actor.js';
export type { Field } from './model/field.js';
export type { Method, Operation } from './model/operation.js';
export type { Resource } from './model/resource.js';

export { DeclarationError } from './errors/declaration-error.js';
export type { DeclarationProblem } from './errors/declaration-error.js';
export { isRestError, RestError } from './errors/rest-error.js';
export type { FieldErrors, Json, RestErrorAnswer } from './errors/rest-error.js';
export { InvalidInput, NotFound, PermissionDenied } from './errors/request-errors.js';
