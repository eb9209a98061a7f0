import { ApiDocument } from './api-document.js';
import { checkContent } from './check-content.js';
import { checkForm } from './check-form.js';
import { OutcomeCheck } from './check-outcome.js';
import type { Exchange } from './check-outcome.js';
import { messagesOf } from './reasons.js';
import { isObject } from './same-value.js';
import { curlOf } from './send-step.js';
import type { Connection, OracleActor } from './send-step.js';
import { State, textOf } from './state.js';
import type { KnownObject } from './state.js';
import type { Problem, Step } from './step.js';

/** A listening application, as the oracle uses it. */
export interface Subject {
  readonly port: number;
  readonly document: object;
  readonly actors: readonly OracleActor[];
  close(): Promise<void>;
}

/** The result of a step. */
export interface Outcome {
  readonly step: Step;
  readonly curl: string;
  readonly status: number;
  readonly problems: readonly Problem[];
}

const ANONYMOUS: OracleActor = { name: '', headers: {}, mayAll: false };
const NO_SUCH_KEY = /^(Invalid pk|Incorrect type)/;

/** Sends steps, checks their responses against the document, and records the state that they disclose. */
export class Oracle {
  readonly state: State;
  readonly outcomes: OutcomeCheck;
  private readonly actors: ReadonlyMap<string, OracleActor>;

  constructor(
    subject: Subject,
    private readonly connection: Connection,
    readonly document = new ApiDocument(subject.document),
  ) {
    this.state = new State(this.document);
    this.outcomes = new OutcomeCheck(this.document, this.state);
    this.actors = new Map(subject.actors.map((actor) => [actor.name, actor]));
  }

  async run(step: Step): Promise<Outcome> {
    const sent = this.connection.prepare(step, this.state.known);
    const answer = await this.connection.send(sent);
    const operation = this.document.operations.find(({ id }) => id === step.operation);
    const exchange: Exchange = {
      step,
      sent,
      answer,
      operation,
      actor: this.actors.get(step.actor) ?? ANONYMOUS,
    };
    const problems = [
      ...checkForm(this.document, operation, exchange),
      ...(answer.status >= 500 ? [] : this.outcomes.check(exchange)),
      ...checkContent(this.document, this.state, exchange),
    ];
    this.learn(exchange);
    return { step, curl: curlOf(sent), status: answer.status, problems };
  }

  private learn(exchange: Exchange): void {
    const { step, answer } = exchange;
    const isWrite = step.method !== 'GET';
    const isNew = isWrite && answer.status < 300 && answer.headers['idempotency-replayed'] === undefined;
    if (isNew) this.state.noteWrite(step.method === 'DELETE');
    if (isNew && answer.status === 201 && step.method === 'POST') this.state.noteCreated(step, answer);
    if (step.headers['Idempotency-Key'] !== undefined && step.intent.kind === 'fits' && answer.text !== '[]')
      this.state.noteKeyed({ step, answer });
    this.learnTarget(exchange);
    if (isWrite) this.learnReferences(exchange);
  }

  private learnTarget({ step, answer }: Exchange): void {
    const object = step.target === undefined ? undefined : this.state.objects.get(step.target);
    if (!object || !step.path.endsWith('.path⟧')) return;
    const isOwn = object.actor === step.actor;
    // The rows of other callers may be unknown.
    if (answer.status === 404 && object.alive === 'perhaps' && isOwn) object.alive = 'no';
    if (answer.status >= 300) return;
    object.etag = textOf(answer.headers.etag) ?? object.etag;
    object.body = step.query.length === 0 && isOwn ? answer.json : undefined;
    object.writes = this.state.writes;
    object.alive = aliveAfter(step, object);
  }

  /** Records the fields that are references, and their collections. */
  private learnReferences({ step, sent, answer }: Exchange): void {
    if (!isObject(sent.body) || !isObject(step.body)) return;
    const errors = answer.status === 400 && isObject(answer.json) ? answer.json : {};
    for (const name of Object.keys(sent.body)) {
      const isReference = messagesOf(errors[name]).some((message) => NO_SUCH_KEY.test(message));
      const collection = answer.status < 300 ? this.collectionOf(step.body[name]) : undefined;
      if (isReference || collection !== undefined) this.state.noteReference(name, collection);
    }
  }

  private collectionOf(value: unknown): string | undefined {
    const [, id = ''] = (typeof value === 'string' && /^⟦([\d.]+)\.key⟧$/.exec(value)) || [];
    return this.state.objects.get(id)?.collection;
  }
}

/** Changing a pair may create another pair, with another URL. */
function aliveAfter({ method }: Step, { detail }: KnownObject): KnownObject['alive'] {
  if (method === 'DELETE') return 'no';
  return method === 'GET' || !detail.includes('{childId}') ? 'yes' : 'perhaps';
}
