import type { FastifyHandler, FastifyRoute } from './fastify-types.js';

type Constraints = Readonly<Record<string, unknown>>;

/** Handlers of Nest's routes with the same constraints, such as a version. */
export interface HandlerGroup {
  readonly constraints: Constraints;
  /** By method and path: `GET /rest/v1/polls/question`. */
  readonly byMethod: Map<string, FastifyHandler>;
  /** By path: handlers for all methods without a handler of their own. */
  readonly forAllMethods: Map<string, FastifyHandler>;
}

/** A group, followed by those with weaker constraints. */
export type HandlerGroups = readonly [HandlerGroup, ...HandlerGroup[]];

/** The handlers that Nest has registered for generated routes, by constraints, method and path. */
export class FastifyHandlers {
  private readonly groups = new Map<string, HandlerGroup>();

  /** @param defaultVersion the application's default version, if requests carry the version outside of their path. */
  constructor(private readonly defaultVersion: () => unknown) {}

  /** Adds the handler of a route. The first of several handlers for the same requests is kept. */
  add({ url, method, handler, constraints = {} }: FastifyRoute): void {
    if (typeof method === 'string')
      setOnce(this.findGroup(constraints).byMethod, `${method} ${url}`, handler);
    else setOnce(this.findGroup(this.addDefaultVersion(constraints)).forAllMethods, url, handler);
  }

  /** Each group, followed by the groups whose constraints its requests also satisfy. */
  listGroups(): readonly HandlerGroups[] {
    const all = [...this.groups.values()];
    return all.map((group) => [group, ...all.filter((each) => each !== group && isWeaker(each, group))]);
  }

  /**
   * The handler for a method; HEAD uses GET's. The handler for all methods only covers methods without a handler in any
   * version.
   */
  find(
    groups: HandlerGroups,
    { method, path }: { readonly method: string; readonly path: string },
  ): FastifyHandler | undefined {
    const keys = [...(method === 'HEAD' ? [`GET ${path}`] : []), `${method} ${path}`];
    const handler = groups.flatMap(({ byMethod }) => keys.flatMap((key) => byMethod.get(key) ?? []))[0];
    if (handler || [...this.groups.values()].some(({ byMethod }) => keys.some((key) => byMethod.has(key))))
      return handler;
    return groups.flatMap(({ forAllMethods }) => forAllMethods.get(path) ?? [])[0];
  }

  /**
   * NestJS 11 loses the version of a route for all methods. Generated routes only have the application's default
   * version.
   */
  private addDefaultVersion(constraints: Constraints): Constraints {
    const version = this.defaultVersion();
    return version === undefined || typeof version === 'symbol' || 'version' in constraints
      ? constraints
      : { ...constraints, version };
  }

  private findGroup(constraints: Constraints): HandlerGroup {
    const key = JSON.stringify(constraints);
    const group = this.groups.get(key) ?? {
      constraints,
      byMethod: new Map<string, FastifyHandler>(),
      forAllMethods: new Map<string, FastifyHandler>(),
    };
    this.groups.set(key, group);
    return group;
  }
}

/** Whether a group's constraints are among those of another one. */
function isWeaker(group: HandlerGroup, other: HandlerGroup): boolean {
  return Object.entries(group.constraints).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify(other.constraints[name]),
  );
}

function setOnce<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  if (!map.has(key)) map.set(key, value);
}
