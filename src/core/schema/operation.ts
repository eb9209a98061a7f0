/** What can be done with a model; an option `operations` names those that exist (contract 3.11). */
export const OPERATIONS = ['list', 'create', 'retrieve', 'update', 'partialUpdate', 'destroy'] as const;

export type Operation = (typeof OPERATIONS)[number];

/** The methods of the URLs that they stand at. */
export const METHOD_OF = {
  list: 'GET',
  create: 'POST',
  retrieve: 'GET',
  update: 'PUT',
  partialUpdate: 'PATCH',
  destroy: 'DELETE',
} as const satisfies Readonly<Record<Operation, string>>;

/** The status of a generated operation's answer with a body, and of what an action answers in its place (contract 3.1). */
export function statusOf(operation: Operation | undefined): 200 | 201 {
  return operation === 'create' ? 201 : 200;
}

/** The methods of HTTP that the interface serves, in the order in which `Allow` names them (contract 7.2). */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

export type Method = (typeof METHODS)[number];

/** Whether any URL of the interface can serve it. */
export function isServed(method: string): method is Method {
  return (METHODS as readonly string[]).includes(method);
}

/** The method by which a call is looked up: HEAD follows GET. One that the interface does not serve stays as it is, and finds nothing. */
export function servedMethod(method: string): Method {
  return (method === 'HEAD' ? 'GET' : method) as Method;
}

export function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
