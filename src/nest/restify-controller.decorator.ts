import { Controller } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { actionsOf, controllerDeclarations, overridesOf } from '../decorators/action.decorator.js';
import { RestifyActionInterceptor } from './action.interceptor.js';
import { RestifyExceptionFilter } from './exception.filter.js';
import { RestifyGuard } from './restify.guard.js';

/**
 * A controller class of the application that joins the generated endpoints of an entity, under every prefix. It is
 * listed in `controllers` of a module, like any other, and everything of Nest works in it.
 */
export function RestifyController(entity: object): ClassDecorator {
  return (target) => {
    const controller = target as unknown as Type;
    Controller()(controller);
    // In front of the class's own: admission is never lost, and of filters the last one is asked first.
    prepend('__guards__', RestifyGuard, controller);
    prepend('__interceptors__', RestifyActionInterceptor, controller);
    prepend('__exceptionFilters__', RestifyExceptionFilter, controller);
    controllerDeclarations().set(controller, {
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

/** Own metadata only: a class that extends another one gets each of ours once. */
function prepend(key: string, enhancer: Type, controller: Type): void {
  const own = (Reflect.getMetadata(key, controller) ?? []) as readonly unknown[];
  Reflect.defineMetadata(key, [enhancer, ...own.filter((each) => each !== enhancer)], controller);
}
