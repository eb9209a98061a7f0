import { setTimeout as sleep } from 'node:timers/promises';
import {
  allOf,
  allow,
  AllowAny,
  anyOf,
  deny,
  hide,
  IsAdmin,
  IsAuthenticated,
  IsAuthenticatedOrReadOnly,
  ModelPermissions,
  ModelPermissionsOrAnonReadOnly,
  not,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission, PermissionExpression, Denial } from 'nestjs-restify';
import type { ActorSpec, AnswerSpec, PermissionSpec, RowsSpec } from '../schema.js';

const CLASSES = {
  AllowAny,
  IsAdmin,
  IsAuthenticated,
  IsAuthenticatedOrReadOnly,
  ModelPermissions,
  ModelPermissionsOrAnonReadOnly,
};

const TRASH: ReadonlySet<string> = new Set(['listDeleted', 'restore', 'purge']);

type Own = Extract<PermissionSpec, { kind: 'own' }>;

export function expressionOf(spec: PermissionSpec): PermissionExpression {
  switch (spec.kind) {
    case 'built-in':
      return CLASSES[spec.name];
    case 'own':
      return permissionClass(spec);
    case 'all-of':
      return allOf(...spec.of.map(expressionOf));
    case 'any-of':
      return anyOf(...spec.of.map(expressionOf));
    case 'not':
      return not(expressionOf(spec.of));
    default:
      return spec satisfies never;
  }
}

function permissionClass(spec: Own): PermissionExpression {
  return class Own implements Permission {
    readonly decidesOnDeleted = true;

    decide({ actor, method, operation }: AccessContext): Grant | Denial | Promise<Grant | Denial> {
      const name = actor === null ? 'anonymous' : (actor as ActorSpec).name;
      const answers = spec.answers[name] ?? spec.answers['*'];
      const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(method);
      const isOfTrash = operation !== undefined && TRASH.has(operation);
      const special = isOfTrash ? answers?.trash : undefined;
      const removal = method === 'DELETE' ? answers?.remove : undefined;
      const aggregate = operation === 'aggregate' ? answers?.aggregate : undefined;
      const answer =
        answers === undefined
          ? deny()
          : answered(special ?? removal ?? aggregate ?? (isRead ? answers.read : answers.write));
      return spec.delay === undefined ? answer : sleep(spec.delay, answer);
    }
  };
}

function byColumn(rows: RowsSpec): RowsSpec {
  if (rows.kind !== 'where' || rows.column === undefined) return rows;
  const { column, ...where } = rows;
  return { ...where, path: column };
}

function answered(answer: AnswerSpec): Grant | Denial {
  switch (answer.kind) {
    case 'allow': {
      const { rows, readable, writable } = answer;
      return allow({
        ...(rows ? { rows: byColumn(rows) } : {}),
        ...(readable ? { readable } : {}),
        ...(writable ? { writable } : {}),
      });
    }
    case 'deny':
      return answer.hides === undefined ? deny() : deny({ hides: answer.hides });
    case 'hide':
      return hide();
    default:
      return answer satisfies never;
  }
}
