import { fileURLToPath } from 'node:url';
import tseslint from 'typescript-eslint';

const root = fileURLToPath(new URL('.', import.meta.url));

/**
 * Nest, Express, Fastify and tracers replace handlers, routes, classes and enhancers by their own: what they have had in hand
 * is recognized by metadata, route configuration or symbols of ours (ARCHITECTURE.md). Files that may key a weak collection,
 * by what their keys are.
 */
const WEAK_KEYS = {
  'objects of the compiled model, or of one request of ours': [
    'src/core/contracts/conditional.ts',
    'src/core/schema/field.ts',
    'src/features/**/*.ts',
    'src/request/**/*.ts',
    'src/sql/**/*.ts',
    'src/core/values/row-to-json.ts',
    'src/adapters/typeorm/typeorm-adapter.ts',
    'src/execution/read/plan-reader.ts',
  ],
  'data sources, their metadata, and connections of their drivers': [
    'src/adapters/typeorm/connection/*.ts',
    'src/execution/connection/*.ts',
    'src/adapters/typeorm/table-metadata.ts',
    'src/adapters/typeorm/write/write-choices.ts',
    'src/adapters/typeorm/write/trees/tree-shapes.ts',
  ],
  'errors that transformers of the application throw': ['src/adapters/typeorm/metadata/transformers.ts'],
  'values of JSON, and entities and drivers that the package has loaded or made itself': [
    'src/core/values/exact-numbers.ts',
    'src/adapters/typeorm/unreadable-json.ts',
  ],
  'classes of entities, as TypeORM itself keeps them': [
    'src/decorators/metadata-storage.ts',
    'src/adapters/class-validator/entity-validator.ts',
  ],
  'the RestServer of an application': [
    'src/http/express/express-platform.ts',
    'src/http/fastify/fastify-platform.ts',
  ],
  'requests and servers of Node': [
    'src/http/express/express-exchange.ts',
    'src/http/express/express-route-index.ts',
    'src/http/fastify/fastify-exchange.ts',
    'src/http/write-response.ts',
  ],
};
const IDENTITY_OF_HANDLERS = {
  selector:
    'BinaryExpression[operator=/^[!=]==?$/] > CallExpression[callee.property.name=/^get(Handler|Class)$/]',
  message: 'Others replace handlers and classes: read metadata (http/handler-kind.ts).',
};
const WEAK_COLLECTIONS = {
  selector: 'NewExpression[callee.name=/^Weak(Map|Set)$/]',
  message:
    'What Nest, Express, Fastify and tracers have had in hand is not recognized by identity. For other keys, name the file in WEAK_KEYS of eslint.config.js.',
};

/** What other packages do not document stands in `src/internals/` (its README.md), as probes. A cast to an interface of ours is not recognized. */
export const INTERNALS = [
  'MemberExpression[computed=false][property.name=/^_[a-z]/]',
  ':matches(ObjectPattern > Property, TSPropertySignature, TSMethodSignature)[key.name=/^_[a-z]/]',
  'Identifier[name=/^(getStmt|transactionDepth)$/]',
  'CallExpression[callee.property.name=getOwnPropertySymbols]',
  'CallExpression[callee.object.name=Symbol][callee.property.name=for] > Literal[value=/^(?!nestjs-restify\\.)/]',
  'Literal[value=/^__(?!proto__)[a-zA-Z]+__$/]',
].map((selector) => ({
  selector,
  message: 'What another package does not document is touched in src/internals/ only, by a probe.',
}));

const MAY_TOUCH_INTERNALS = ['src/internals/**/*.ts', 'src/**/*.spec.ts'];

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      'coverage/',
      'ui/assets.cjs',
      'test/fixtures/',
      'bench/dist/',
      'bench/rivals/',
      'bench/nest-10/',
      'site/.pages/',
      'site/.vitepress/cache/',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: ['*.js', 'scripts/*.{mjs,cjs}', 'ui/*.cjs', 'test/worlds/*/*.cjs'],
        },
        tsconfigRootDir: root,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // Modules of Nest are empty classes by design.
      '@typescript-eslint/no-extraneous-class': [
        'error',
        { allowWithDecorator: true, allowStaticOnly: true },
      ],
      // Canonical values are JSON: those that become text are no objects.
      '@typescript-eslint/no-base-to-string': 'off',
      // Nest declares its options as classes, and every application writes them as literals.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Texts are taken apart by code point on purpose.
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Limits (CONTRIBUTING.md).
      'no-nested-ternary': 'error',
      'max-depth': ['error', 3],
      complexity: ['error', 18],
      '@typescript-eslint/max-params': ['error', { max: 3 }],
    },
  },
  // Handlers of events call functions of objects that hold no state of their own.
  { files: ['ui/**/*.ts', 'ui/**/*.tsx'], rules: { '@typescript-eslint/unbound-method': 'off' } },
  {
    files: ['src/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: { 'max-lines': ['error', { max: 300, skipComments: true, skipBlankLines: true }] },
  },
  {
    files: ['src/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', IDENTITY_OF_HANDLERS, WEAK_COLLECTIONS, ...INTERNALS] },
  },
  {
    files: Object.values(WEAK_KEYS).flat(),
    rules: { 'no-restricted-syntax': ['error', IDENTITY_OF_HANDLERS, ...INTERNALS] },
  },
  {
    files: MAY_TOUCH_INTERNALS,
    rules: { 'no-restricted-syntax': ['error', IDENTITY_OF_HANDLERS, WEAK_COLLECTIONS] },
  },
  {
    // A file has to match both patterns of a pair.
    files: Object.values(WEAK_KEYS)
      .flat()
      .flatMap((keyed) => MAY_TOUCH_INTERNALS.map((touching) => [keyed, touching])),
    rules: { 'no-restricted-syntax': ['error', IDENTITY_OF_HANDLERS] },
  },
  // A row of a table of cases has one parameter for each column, and a method of a controller one for each decorator.
  { files: ['test/**/*.ts'], rules: { '@typescript-eslint/max-params': ['error', { max: 6 }] } },
  {
    // Fastify calls these hooks with four arguments; rest parameters would allocate an array for each request.
    files: ['src/http/fastify/fastify-platform.ts', 'src/http/fastify/fastify-content-type-parser.ts'],
    rules: { '@typescript-eslint/max-params': ['error', { max: 4 }] },
  },
  { files: ['**/*.js', '**/*.mjs', '**/*.cjs'], ...tseslint.configs.disableTypeChecked },
  { files: ['**/*.cjs'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
);
