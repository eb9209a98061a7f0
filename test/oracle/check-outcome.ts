import type { ApiDocument, ApiOperation } from './api-document.js';
import { Canonical } from './canonical.js';
import { beyondSchemas, isOfTheState, messagesOf } from './reasons.js';
import type { State } from './state.js';
import type { Answer, Intent, Problem, Step } from './step.js';
import type { OracleActor, Sent } from './send-step.js';

/** A request with its response, and the state before it. */
export interface Exchange {
  readonly step: Step;
  readonly sent: Sent;
  readonly answer: Answer;
  readonly operation: ApiOperation | undefined;
  readonly actor: OracleActor;
}

/** Checks whether the response is possible for the intent of the request. */
export class OutcomeCheck {
  /** How often each undocumented form was accepted. */
  readonly exceptions = new Map<string, number>();

  constructor(
    private readonly document: ApiDocument,
    private readonly state: State,
  ) {}

  check(exchange: Exchange): readonly Problem[] {
    const { step, answer, operation } = exchange;
    // A deleted object is what a trash is about (contract 23).
    if (step.intent.kind === 'no-such-object' && /\/(restore|purge)$/.test(step.operation)) return [];
    // A custom method of the application may accept and return anything.
    if (operation?.responses.has('default')) return [];
    const { intent } = step;
    if (intent.kind === 'fits' || intent.kind === 'known-state') return this.ofFitting(exchange);
    if (intent.kind === 'broken-body') return this.ofBrokenBody(exchange, intent.field);
    if (intent.kind === 'repeated') return this.ofRepeated(answer, intent.step);
    const [status, rule, isOfBody] = REFUSALS[intent.kind];
    const earlier = isOfBody ? this.beforeBody(exchange) : this.earlier(exchange);
    return refused(answer, { status, rule, earlier: intent.kind === 'no-credentials' ? [] : earlier });
  }

  private ofFitting(exchange: Exchange): readonly Problem[] {
    const { answer } = exchange;
    if (answer.status < 400) return [];
    const refusal = { rule: `refuses what fits with ${answer.status}`, detail: answer.text.slice(0, 400) };
    if (answer.status !== 400) return this.refusals(exchange).has(answer.status) ? [] : [refusal];
    if (isOfTheState(answer) || this.isUnreadable(exchange)) return [];
    const beyond = beyondSchemas(answer);
    if (beyond === undefined) return [refusal];
    for (const name of beyond) this.count(name);
    return [];
  }

  /** A filter on a field that the caller may not read is an unknown parameter (contract 10.3), related keys that it may not view are an unknown field (contract 24.3). */
  private isUnreadable({ actor, answer }: Exchange): boolean {
    const messages = messagesOf(answer.json);
    if (actor.mayAll || !messages.every((each) => /^Unknown (parameter|field)\.$/.test(each))) return false;
    this.count('a field that the caller may not read');
    return true;
  }

  /** Statuses other than 400 that the state can cause. */
  private refusals(exchange: Exchange): ReadonlySet<number> {
    const { step, operation, sent } = exchange;
    const found = new Set<number>(this.earlier(exchange));
    if (step.method === 'DELETE' || operation?.method === 'DELETE') found.add(409);
    // An object that is not deleted (contract 23.5).
    if (/\/(restore|purge)$/.test(step.operation)) found.add(409);
    const conditions = Object.keys(sent.headers).filter((name) => /^if-/i.test(name));
    if (conditions.length > 0 && step.intent.kind !== 'known-state') found.add(412);
    if (conditions.length === 0) found.add(428);
    // A page that does not exist.
    if (step.query.length > 0) found.add(404);
    return found;
  }

  /** The results of checks that precede those of the parameters and the body. */
  private earlier({ step, actor }: Exchange): readonly number[] {
    const target = step.target === undefined ? undefined : this.state.objects.get(step.target);
    const parents = step.path.includes('⟦');
    const certain = target?.alive === 'yes' && target.actor === step.actor && !this.isBelow(step);
    return [
      ...(actor.mayAll ? [] : [403]),
      ...(certain || (step.target === undefined && !parents && !step.operation.includes('{')) ? [] : [404]),
    ];
  }

  private beforeBody(exchange: Exchange): readonly number[] {
    return [...this.earlier(exchange), 412, 428];
  }

  /** Whether the URL has a parent that may have been deleted. */
  private isBelow({ path }: Step): boolean {
    const [, id = ''] = /^⟦([\d.]+)\.path⟧/.exec(path) ?? [];
    const object = this.state.objects.get(id);
    return object?.alive !== 'yes';
  }

  private ofBrokenBody(exchange: Exchange, field: string | undefined): readonly Problem[] {
    const { answer, operation, sent } = exchange;
    const canonical = new Canonical(this.document);
    const schema = operation?.body?.schema ?? {};
    const meant = canonical.of(schema, sent.body);
    if (canonical.used.size > 0 && this.document.fits(schema, meant)) {
      if (answer.status < 300) for (const each of canonical.used) this.count(each);
      return answer.status === 400 ? [] : this.ofFitting(exchange);
    }
    return answer.status < 300 ? this.ofTaken(exchange, field) : this.ofRefused(exchange, field);
  }

  private ofRefused(exchange: Exchange, field: string | undefined): readonly Problem[] {
    const { answer } = exchange;
    if (answer.status === 400) return this.isUnknownParameter(exchange) ? [] : this.namesField(answer, field);
    return refused(answer, {
      status: 400,
      rule: 'does not validate a body',
      earlier: [...this.refusals(exchange)],
    });
  }

  private ofTaken(exchange: Exchange, field: string | undefined): readonly Problem[] {
    const { answer } = exchange;
    if (this.isUnwritable(exchange, field) || this.changesNothing(exchange)) return [];
    return [
      {
        rule: 'takes a body that does not fit',
        detail: `at ${field ?? 'the whole'}, answered ${answer.status} ${answer.text.slice(0, 300)}`,
      },
    ];
  }

  /** Fields that the caller may not write are ignored (contract 5.5), and not returned. */
  private isUnwritable({ actor, answer }: Exchange, field: string | undefined): boolean {
    if (actor.mayAll || field === undefined || answer.text.includes(JSON.stringify(field))) return false;
    this.count('a field that the caller may not write');
    return true;
  }

  /** Preconditions are checked only if the change selects rows. */
  private changesNothing({ step, answer }: Exchange): boolean {
    if (step.method !== 'PATCH' || answer.text !== '[]') return false;
    this.count('a change of no objects');
    return true;
  }

  /** A parameter by which the caller may not filter is unknown, and precedes the errors of the body (contract 6.3). */
  private isUnknownParameter({ actor, answer }: Exchange): boolean {
    if (actor.mayAll || !messagesOf(answer.json).every((message) => message === 'Unknown parameter.'))
      return false;
    this.count('a parameter that the caller may not use');
    return true;
  }

  /** Errors of the database or the state are reported alone. */
  private namesField(answer: Answer, field: string | undefined): readonly Problem[] {
    if (field === undefined || answer.text.includes(JSON.stringify(field)) || isOfTheState(answer)) return [];
    if (/non_field_errors|detail/.test(answer.text)) return [];
    return [
      {
        rule: 'does not name the field that is wrong',
        detail: `"${field}": ${messagesOf(answer.json).join(' ')}`,
      },
    ];
  }

  private ofRepeated(answer: Answer, number: number): readonly Problem[] {
    const first = this.state.keyed.find(({ step }) => step.number === number)?.answer;
    if (first?.status !== 201) return [];
    const replayed = answer.headers['idempotency-replayed'] === 'true';
    const same =
      answer.status === 201 &&
      answer.text === first.text &&
      answer.headers.location === first.headers.location;
    return same && replayed
      ? []
      : [
          {
            rule: 'answers a repeated request in another way',
            detail: `${answer.status} ${answer.text.slice(0, 300)} (first: ${first.text.slice(0, 300)})`,
          },
        ];
  }

  private count(name: string): void {
    this.exceptions.set(name, (this.exceptions.get(name) ?? 0) + 1);
  }
}

/** The status of a deliberately invalid request, the rule of a wrong response, and whether it concerns the body. */
const REFUSALS: Readonly<
  Record<
    Exclude<Intent['kind'], 'fits' | 'known-state' | 'broken-body' | 'repeated'>,
    readonly [status: number, rule: string, isOfBody: boolean]
  >
> = {
  'broken-query': [400, 'takes a parameter that does not fit', false],
  'no-such-object': [404, 'answers for an object that is not there', false],
  'no-credentials': [401, 'answers a caller without credentials', false],
  'other-method': [405, 'serves a method that is not described', false],
  'not-json': [415, 'reads what is no JSON', true],
  malformed: [400, 'reads malformed JSON', true],
  'not-acceptable': [406, 'answers JSON where none is accepted', false],
  'key-reused': [422, 'takes the Idempotency-Key of another request', true],
};

interface Expected {
  readonly status: number;
  readonly rule: string;
  /** The statuses of preceding checks. */
  readonly earlier: readonly number[];
}

function refused(answer: Answer, { status, rule, earlier }: Expected): readonly Problem[] {
  if (answer.status === status || earlier.includes(answer.status)) return [];
  return [{ rule: `${rule} (${answer.status})`, detail: answer.text.slice(0, 300) }];
}
