import { fileURLToPath } from 'node:url';
import tseslint from 'typescript-eslint';

const root = fileURLToPath(new URL('.', import.meta.url));

/** The steps of `src/request/`: none of them imports another one (ARCHITECTURE.md, *Imports run one way*). */
const STEPS = [
  'authentication',
  'permissions',
  'throttling',
  'filtering',
  'ordering',
  'pagination',
  'shaping',
  'conditional',
  'idempotency',
  'serializers',
  'metadata',
];

function forbid(files, group, message) {
  return { files, rules: { 'no-restricted-imports': ['error', { patterns: [{ group, message }] }] } };
}

const NEST = '@nestjs/*';
const TYPEORM = ['typeorm', 'typeorm/*'];

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      'coverage/',
      'test/fixtures/',
      'bench/dist/',
      'bench/rivals/',
      'bench/nest-10/',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.js', 'scripts/*.mjs', 'test/worlds/*/*.cjs'] },
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
      // Limits. What was beyond one when it was introduced is counted in eslint-suppressions.json, which may only shrink
      // (CONTRIBUTING.md).
      'no-nested-ternary': 'error',
      'max-depth': ['error', 3],
      complexity: ['error', 12],
      '@typescript-eslint/max-params': ['error', { max: 3 }],
    },
  },
  { files: ['src/**/*.ts'], ignores: ['**/*.spec.ts'], rules: { 'max-lines': ['error', 300] } },
  { files: ['**/*.js', '**/*.mjs', '**/*.cjs'], ...tseslint.configs.disableTypeChecked },
  { files: ['**/*.cjs'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  forbid(
    ['src/errors/**', 'src/model/**', 'src/values/**'],
    [NEST, ...TYPEORM, '**/request/**', '**/boot/**', '**/adapters/**', '**/declare/**'],
    'errors, model and values import nothing but each other.',
  ),
  forbid(
    ['src/declare/**'],
    [NEST, ...TYPEORM, '**/request/**', '**/boot/**', '**/adapters/**'],
    'Declaring is before Nest, the ORM and every request.',
  ),
  ...STEPS.map((step) =>
    forbid(
      [`src/request/${step}/**`],
      [
        NEST,
        ...TYPEORM,
        '**/boot/**',
        '**/adapters/**',
        ...[...STEPS, 'parsing', 'planning', 'execution', 'responses']
          .filter((other) => other !== step)
          .map((other) => `**/${other}/**`),
      ],
      'A step of a request knows no other step.',
    ),
  ),
  forbid(
    [
      'src/request/parsing/**',
      'src/request/planning/**',
      'src/request/execution/**',
      'src/request/responses/**',
      'src/request/asked-over.ts',
      'src/request/bulk-writes.ts',
      'src/request/call.ts',
      'src/request/conditional-objects.ts',
      'src/request/expansions.ts',
      'src/request/idempotent-creates.ts',
      'src/request/paged-lists.ts',
      'src/request/preconditions.ts',
      'src/request/shown-by-get.ts',
      'src/request/repeatable-request.ts',
      'src/request/represent-row.ts',
      'src/request/shaped-answers.ts',
      'src/request/write-plans.ts',
      'src/request/rest-pipeline.ts',
    ],
    [NEST, ...TYPEORM, '**/boot/**', '**/adapters/**'],
    'A request knows neither Nest nor the ORM.',
  ),
  forbid(
    ['src/adapters/**'],
    [
      NEST,
      '**/boot/**',
      '**/declare/**',
      '**/rest-pipeline.js',
      '**/filtering/**',
      '**/parsing/**',
      '**/responses/**',
    ],
    'An adapter knows the port that it implements, and the words.',
  ),
  forbid(
    ['src/boot/compiling/**', 'src/boot/verifying/**'],
    [NEST, ...TYPEORM, '**/adapters/**', '**/routing/**'],
    'Compiling and verifying are pure.',
  ),
  forbid(
    ['src/boot/openapi/**'],
    [
      NEST,
      ...TYPEORM,
      '**/adapters/**',
      '**/routing/**',
      '**/compiling/**',
      '**/verifying/**',
      '**/declare/**',
    ],
    'A description is made from the compiled model alone.',
  ),
  forbid(
    ['src/boot/routing/**'],
    [...TYPEORM, '**/adapters/**', '**/compiling/**', '**/verifying/**'],
    'Routing starts from compiled resources.',
  ),
);
