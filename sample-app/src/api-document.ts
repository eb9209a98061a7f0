import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import { RestifyOpenApi } from 'nestjs-restify';
import type { OpenApiOptions } from 'nestjs-restify';

/** The OpenAPI 3.1 document of the whole API: the controllers, as described by @nestjs/swagger, and the generated routes. */
export function apiDocument(app: INestApplication, options?: OpenApiOptions): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Sample application')
    .setVersion('1')
    .setDescription('Polls, courses, a library and a help desk, generated from their entities.')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setOpenAPIVersion('3.1.0')
    .build();
  return app.get(RestifyOpenApi).extend(SwaggerModule.createDocument(app, config), options);
}
