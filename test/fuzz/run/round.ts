import { Random } from '../generate/random.js';
import { makeRequest } from '../generate/requests.js';
import type { Posted } from '../generate/requests.js';
import { makeSchema } from '../generate/schemas.js';
import { Model } from '../model/answers.js';
import { AmbiguousDeletion } from '../model/deletions.js';
import type { SchemaSpec } from '../schema.js';
import { startApplication } from './application.js';
import type { FuzzedApplication, Place } from './application.js';
import { differences } from './compare.js';
import { rowDifferences, unseenRows } from './rows.js';
import { Transport } from './transport.js';
import type { FuzzRequest, FuzzResponse } from './transport.js';

export interface RoundSettings extends Place {
  readonly seed: number;
  /** The number of concurrent clients, each with its own schema. */
  readonly clients: number;
  /** The number of requests per client. */
  readonly requests: number;
  /** Set when one client has found a disagreement, to stop the others. */
  readonly endsAtFirst?: boolean;
}

/** A response that differs from the model. */
export interface Disagreement {
  readonly seed: number;
  readonly client: number;
  readonly schema: SchemaSpec;
  /** All requests of the client up to the one with the different response. */
  readonly requests: readonly FuzzRequest[];
  readonly differences: readonly string[];
}

export interface RoundResult {
  readonly requests: number;
  readonly statuses: ReadonlyMap<number, number>;
  readonly disagreements: readonly Disagreement[];
}

/** Runs several concurrent clients with one application. */
export async function runRound(settings: RoundSettings): Promise<RoundResult> {
  const random = new Random(settings.seed);
  const clients = Array.from({ length: settings.clients }, (_, number) => ({
    number,
    schema: makeSchema(random, number, settings.database),
    random: new Random(random.seed()),
  }));
  const application = await startApplication(
    clients.map(({ schema }) => schema),
    settings,
  );
  const transport = new Transport(application.port);
  const statuses = new Map<number, number>();
  const ended = new Set<number>();
  try {
    const results = await Promise.all(
      clients.map((client) =>
        new Client(client, { settings, application, transport, statuses, ended }).run(),
      ),
    );
    return {
      requests: [...statuses.values()].reduce((sum, count) => sum + count, 0),
      statuses,
      disagreements: results.filter((each) => each !== undefined),
    };
  } finally {
    transport.close();
    await application.close();
  }
}

interface Surroundings {
  readonly settings: RoundSettings;
  readonly application: FuzzedApplication;
  readonly transport: Transport;
  readonly statuses: Map<number, number>;
  /** The clients that have found a disagreement. */
  readonly ended: Set<number>;
}

class Client {
  private readonly model: Model;
  private readonly sent: FuzzRequest[] = [];
  private readonly posted: Posted = [];

  constructor(
    private readonly client: {
      readonly number: number;
      readonly schema: SchemaSpec;
      readonly random: Random;
    },
    private readonly surroundings: Surroundings,
  ) {
    const { application, settings } = surroundings;
    this.model = new Model(client.schema, {
      database: settings.database,
      origin: `http://127.0.0.1:${application.port}`,
    });
  }

  async run(): Promise<Disagreement | undefined> {
    const { settings, ended } = this.surroundings;
    const { requests, endsAtFirst } = settings;
    while (this.sent.length < requests) {
      if (endsAtFirst === true && ended.size > 0) return undefined;
      const found = this.client.random.chance(0.05) ? await this.askAtOnce() : await this.askOne();
      if (found.length > 0) return this.disagreement(found);
    }
    const { application } = this.surroundings;
    const found = [
      ...(await rowDifferences(application.dataSource, this.model.state)),
      ...(await application.wrongWrites(this.client.schema)),
    ];
    return found.length > 0 ? this.disagreement(found) : undefined;
  }

  private askOne(): Promise<string[]> {
    const asked = makeRequest(this.client.random, this.model, this.posted);
    return isAmbiguous(this.model, asked) ? Promise.resolve([]) : this.ask(asked);
  }

  /** Sends several reads concurrently. */
  private async askAtOnce(): Promise<string[]> {
    const made = Array.from({ length: 8 }, () => makeRequest(this.client.random, this.model, []));
    const reads = made.filter(({ method }) => method === 'GET' || method === 'HEAD');
    const answers = await Promise.all(reads.map((asked) => this.send(asked)));
    for (const [index, asked] of reads.entries()) {
      const given = answers[index];
      const found = given ? differences(given, this.model.answer(asked, given)) : [];
      if (found.length > 0) {
        this.sent.push(asked);
        return found;
      }
    }
    return [];
  }

  private async send(asked: FuzzRequest): Promise<FuzzResponse> {
    const { transport, statuses } = this.surroundings;
    const given = await transport.send(asked);
    statuses.set(given.status, (statuses.get(given.status) ?? 0) + 1);
    this.sent.push(asked);
    return given;
  }

  private async ask(asked: FuzzRequest): Promise<string[]> {
    const given = await this.send(asked);
    const stored = await unseenRows(this.surroundings.application.dataSource, this.model, { asked, given });
    return differences(given, this.model.answer(asked, { ...given, stored }));
  }

  private disagreement(found: readonly string[]): Disagreement {
    const { number, schema } = this.client;
    this.surroundings.ended.add(number);
    return {
      seed: this.surroundings.settings.seed,
      client: number,
      schema,
      requests: this.sent,
      differences: found,
    };
  }
}

/** Whether the result of a deletion depends on the database: then it is not sent. */
function isAmbiguous(model: Model, asked: FuzzRequest): boolean {
  const isDeletion = asked.method === 'DELETE' || /\/purge\/?(?:\?|$)/.test(asked.path);
  if (!isDeletion && asked.body?.includes('"delete":') !== true) return false;
  const restore = model.state.snapshot();
  try {
    // Without its key: the model would keep the response.
    const { 'Idempotency-Key': _, ...headers } = asked.headers;
    model.answer({ ...asked, headers }, { status: 0, headers: {}, text: '' });
    return false;
  } catch (error) {
    return error instanceof AmbiguousDeletion;
  } finally {
    restore();
  }
}
