import type { ModuleRef } from '@nestjs/core';
import { ActorPermissionSource, PermissionSource } from '../core/contracts/permission-source.js';
import type { ErrorListener } from '../core/contracts/error-listener.js';
import type { PermissionRules } from '../features/permissions/authorize.stage.js';
import type { BootContext } from './boot-context.js';

export function permissionRules(
  { options, moduleRef, server }: BootContext,
  listener: ErrorListener | undefined,
): PermissionRules {
  return {
    source: permissionSource(moduleRef),
    refusalsHide: options.refusalsHide,
    failed: (error, { resource, method, actor, request }) => {
      const subject = `A permission of ${resource.id} failed behind one that denies ${method}, and every row counts as hidden`;
      server.reportError(error, { subject, listener, method, actor, request });
    },
  };
}

/** The application's `PermissionSource` of any of its modules, else the default. */
function permissionSource(moduleRef: ModuleRef): PermissionSource {
  return (
    (findProvider(PermissionSource, moduleRef) as PermissionSource | undefined) ?? new ActorPermissionSource()
  );
}

export function findProvider(token: symbol, moduleRef: ModuleRef): unknown {
  try {
    return moduleRef.get<unknown>(token, { strict: false });
  } catch {
    return undefined;
  }
}
