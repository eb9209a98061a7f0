/** What can be done with a model; an option `operations` names those that exist (contract 3). */
export const OPERATIONS = ['list', 'create', 'retrieve', 'update', 'partialUpdate', 'destroy'] as const;

export type Operation = (typeof OPERATIONS)[number];

/** The methods of the URLs that they stand at. */
export const METHOD_OF = { list: 'GET', create: 'POST', retrieve: 'GET', update: 'PUT', partialUpdate: 'PATCH', destroy: 'DELETE' } as const satisfies Readonly<Record<Operation, string>>;

/** The methods of HTTP that the interface serves, in the order in which `Allow` names them (contract 7). */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

export type Method = (typeof METHODS)[number];
