import { Controller } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { actionsOf, declareController, overridesOf } from '../decorators/action.decorator.js';
import { RestifyActionInterceptor } from './action.interceptor.js';
import { RestifyExceptionFilter } from './exception.filter.js';
import { RestifyGuard } from './restify.guard.js';
import { isOwnEnhancer } from './tokens.js';

/**
 * Declares a controller class with actions and overrides for the generated endpoints of an entity, in every prefix. List it
 * in the `controllers` of a module like any other; all features of Nest work in it.
 */
export function RestifyController(entity: object): ClassDecorator {
  return (target) => {
    const controller = target as unknown as Type;
    Controller()(controller);
    // Before the guards and filters of the class, so that authorization always runs first; Nest calls the last filter first.
    prepend('__guards__', RestifyGuard, controller);
    prepend('__interceptors__', RestifyActionInterceptor, controller);
    prepend('__exceptionFilters__', RestifyExceptionFilter, controller);
    declareController({
      controller,
      name: controller.name,
      entity,
      actions: actionsOf(controller),
      plainRoutes: plainRoutes(controller),
      ...overridesOf(controller),
    });
  };
}

function plainRoutes(controller: Type): readonly string[] {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(controller.prototype as object));
  return methods.flatMap(([name, { value }]) =>
    typeof value === 'function' && name !== 'constructor' && Reflect.hasMetadata('path', value as object)
      ? name
      : [],
  );
}

/** Reads own metadata only, so that a subclass does not get our guards and filters twice. */
function prepend(key: string, enhancer: Type, controller: Type): void {
  const own = (Reflect.getMetadata(key, controller) ?? []) as readonly unknown[];
  Reflect.defineMetadata(key, [enhancer, ...own.filter((each) => !isOwnEnhancer(each))], controller);
}
