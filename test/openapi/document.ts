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

/** The document with each parameter in its operation, in the place of references to components. */
export function resolveParameters<Document extends object>(document: Document): Document {
  const { paths, components } = document as unknown as {
    readonly paths: PlainDocument['paths'];
    readonly components?: { readonly parameters?: Readonly<Record<string, unknown>> };
  };
  const resolve = (parameter: object): unknown =>
    '$ref' in parameter
      ? components?.parameters?.[String(parameter.$ref).replace('#/components/parameters/', '')]
      : parameter;
  const items = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, operation]) => [
      method,
      { ...operation, parameters: operation.parameters.map(resolve) },
    ]);
    return [path, Object.fromEntries(operations) as unknown];
  });
  return {
    ...document,
    paths: Object.fromEntries(items) as unknown,
    components: { ...components, parameters: undefined },
  };
}

/** As an application makes it, with each parameter in its operation. */
export function documentOf(
  app: INestApplication,
  configure: (builder: DocumentBuilder) => DocumentBuilder = (builder) => builder,
): PlainDocument {
  const config = configure(
    new DocumentBuilder().setTitle('Test').setLicense('MIT', 'https://opensource.org/license/mit'),
  ).build();
  return resolveParameters(
    app.get(RestifyOpenApi).extend(SwaggerModule.createDocument(app, config)),
  ) as unknown as PlainDocument;
}

export function parametersOf(
  { parameters }: PlainOperation,
  place: string,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    parameters.filter((each) => each.in === place).map(({ name, schema }) => [name, schema]),
  );
}
