import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompilerInput } from '../compiler-input.js';

/** Rejects entities whose files were loaded after Nest had read the controllers: they would have no routes. */
export function verifyLayout({ drafts, laidOut }: CompilerInput): readonly DeclarationProblem[] {
  return drafts
    .filter(({ declaration }) => !laidOut.has(declaration.target))
    .map(({ declaration }) => ({
      where: declaration.name,
      what: 'its file was loaded after the modules were scanned, as happens if the data source finds entities by a file pattern',
      repair: `Import ${declaration.name} from a file of the application, or list the class in TypeOrmModule.forFeature([${declaration.name}]) with autoLoadEntities.`,
    }));
}
