/** The operations of a model; the option `operations` selects those that are enabled (contract 3.11). */
export const OPERATIONS = ['list', 'create', 'retrieve', 'update', 'partialUpdate', 'destroy'] as const;

/** The operations that methods of the application may replace. */
export type ReplaceableOperation = (typeof OPERATIONS)[number];

/** Whatever a URL serves. */
export type Operation = ReplaceableOperation | 'restore' | 'purge';

/** The operations that a permission tells from others of their method: those on deleted objects, and aggregates of the rows of a list. */
export type NamedOperation = TrashOperation | 'aggregate';

/** The operations on deleted objects of a model with `trash`, each with a right of its own: `view_deleted`, `restore`, `purge`. */
export const TRASH_OPERATIONS = ['listDeleted', 'restore', 'purge'] as const;

export type TrashOperation = (typeof TRASH_OPERATIONS)[number];

/** The rows of a view on deleted objects: these alone, or with the others. */
export const DELETED_ROWS = ['only', 'with'] as const;

export type DeletedRows = (typeof DELETED_ROWS)[number];

/** What the option `operations` names. */
export type OperationName = Operation | TrashOperation;

/** The operation on deleted objects whose right a method needs on a view of them. */
export const TRASH_OPERATION_OF: Readonly<Partial<Record<string, TrashOperation>>> = {
  GET: 'listDeleted',
  PATCH: 'restore',
  DELETE: 'purge',
};

/** The HTTP method of each operation. */
export const METHOD_OF = {
  list: 'GET',
  create: 'POST',
  retrieve: 'GET',
  update: 'PUT',
  partialUpdate: 'PATCH',
  destroy: 'DELETE',
  listDeleted: 'GET',
  restore: 'POST',
  purge: 'POST',
} as const satisfies Readonly<Record<OperationName, string>>;

/** The status of a generated operation's response with a body, and of an action that replaces it (contract 3.1). */
export function statusOf(operation: Operation | undefined): 200 | 201 {
  return operation === 'create' ? 201 : 200;
}

/** The HTTP methods that the interface supports, in the order of `Allow` (contract 7.2). */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/** The methods of HTTP that URLs of models serve. */
export type Method = (typeof METHODS)[number];

/** Reads a list with its parameters as the body (RFC 10008), where a URL allows it: in place of GET, and never of an action. */
export const QUERY_METHOD = 'QUERY';

/** The media type of the parameters in the body of a QUERY. */
export const QUERY_MEDIA_TYPE = 'application/x-www-form-urlencoded';

/** Whether the interface supports this HTTP method. */
export function isSupportedMethod(method: string): method is Method {
  return (METHODS as readonly string[]).includes(method);
}

/** The method by which a handler is looked up: GET for HEAD. An unsupported method is returned unchanged, and has no handler. */
export function servedMethod(method: string): Method {
  return (method === 'HEAD' ? 'GET' : method) as Method;
}

export function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
