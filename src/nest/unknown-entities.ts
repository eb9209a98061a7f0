import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import type { ResourceDeclaration } from '../decorators/model-options.js';
import { declarations, seen } from '../decorators/metadata-storage.js';
import type { ModelDescription } from '../core/schema/entity-metadata.js';
import type { UnknownEntities } from '../restify.options.js';

/** One `forRoot`, from its call until its boot has succeeded or failed. */
export class AwaitedPrefix {
  private readonly reference = new WeakRef<object>(this);

  constructor() {
    seen().waiting.add(this.reference);
  }

  /** Marks the entities of its data source as known. */
  setKnownEntities({ entities }: ModelDescription): void {
    for (const { targets } of entities)
      for (const target of targets) if (typeof target !== 'string') seen().entities.add(target as object);
  }

  settle(): void {
    seen().waiting.delete(this.reference);
  }
}

/**
 * The declarations that are in no data source of this process. Undetermined while a prefix of another application waits for
 * its data source; the application that starts last reports them.
 */
function unknownDeclarations(): readonly ResourceDeclaration[] {
  const { waiting, entities } = seen();
  if ([...waiting].some((each) => each.deref() !== undefined)) return [];
  return [...declarations().values()].filter(({ target }) => !entities.has(target));
}

/** Warns once about each unknown entity, or returns problems, depending on `unknownEntities` of the prefixes. */
export function checkUnknownEntities(
  modes: readonly UnknownEntities[],
  warn: (text: string) => void,
): readonly DeclarationProblem[] {
  const found = modes.length === 0 ? [] : unknownDeclarations();
  if (found.length === 0) return [];
  if (modes.includes('error')) return found.map(unknownEntityProblem);
  if (modes.includes('ignore')) return [];
  for (const { target } of found) seen().entities.add(target);
  const names = found.map(({ name }) => name);
  const one = names.length === 1;
  warn(
    `${names.join(', ')} ${one ? 'is' : 'are'} decorated with @Restify and served nowhere, because no data source knows ${one ? 'it' : 'them'}. ` +
      `Add ${one ? 'it' : 'them'} to the entities of the data source, or to TypeOrmModule.forFeature([${names.join(', ')}]) with autoLoadEntities.`,
  );
  return [];
}

function unknownEntityProblem({ name }: ResourceDeclaration): DeclarationProblem {
  return {
    where: name,
    what: 'it is decorated with @Restify and served nowhere, because no data source knows it',
    repair: `Add ${name} to the entities of the data source, or to TypeOrmModule.forFeature([${name}]) with autoLoadEntities, or take @Restify off.`,
  };
}
