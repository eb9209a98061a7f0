import type { ModuleRef } from '@nestjs/core';
import { ActorPermissionSource, PermissionSource } from '../core/contracts/permission-source.js';
import type { PermissionRules } from '../features/permissions/authorize.stage.js';
import type { BootContext } from './boot-context.js';

export function permissionRules({ options, moduleRef, server }: BootContext): PermissionRules {
  return {
    source: permissionSource(moduleRef),
    refusalsHide: options.refusalsHide,
    failed: (error, { resource, method }) => {
      server.log.logError(
        `A permission of ${resource.id} failed behind one that refuses ${method}, and every row counts as hidden`,
        error,
      );
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
