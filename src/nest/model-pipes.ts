import type { PipeTransform } from '@nestjs/common';
import type { PipeLike, Piping } from '../core/contracts/pipe.js';

/** Runs pipes as Nest does for a parameter. The metatype of a body is the entity's class, so that its validators apply. */
export function modelPipes(pipes: readonly PipeLike[], target: object | undefined): Piping | undefined {
  if (pipes.length === 0) return undefined;
  const metatype = typeof target === 'function' ? (target as new () => unknown) : undefined;
  return {
    pipes,
    transform: async (value, argument) => {
      let piped = value;
      for (const pipe of pipes as readonly PipeTransform<unknown>[])
        piped = await pipe.transform(piped, {
          type: argument,
          metatype: argument === 'body' ? metatype : Object,
          data: undefined,
        });
      return piped;
    },
  };
}
