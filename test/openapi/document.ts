import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { RestifyOpenApi } from 'nestjs-restify';

/** A document as plain data. */
export interface PlainDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, PlainOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface PlainOperation {
  readonly operationId: string;
  readonly summary?: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: unknown;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: unknown }>> };
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security?: readonly unknown[];
}

/** As an application makes it. */
export function documentOf(
  app: INestApplication,
  configure: (builder: DocumentBuilder) => DocumentBuilder = (builder) => builder,
): PlainDocument {
  const config = configure(
    new DocumentBuilder().setTitle('Test').setLicense('MIT', 'https://opensource.org/license/mit'),
  ).build();
  return app
    .get(RestifyOpenApi)
    .extend(SwaggerModule.createDocument(app, config)) as unknown as PlainDocument;
}

export function parametersOf(
  { parameters }: PlainOperation,
  place: string,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    parameters.filter((each) => each.in === place).map(({ name, schema }) => [name, schema]),
  );
}
