import { fileURLToPath } from 'node:url';
import tseslint from 'typescript-eslint';

const root = fileURLToPath(new URL('.', import.meta.url));

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
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.js', 'scripts/*.mjs', 'ui/*.cjs', 'test/worlds/*/*.cjs'] },
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
      complexity: ['error', 12],
      '@typescript-eslint/max-params': ['error', { max: 3 }],
    },
  },
  // Handlers of events call functions of objects that hold no state of their own.
  { files: ['ui/**/*.ts', 'ui/**/*.tsx'], rules: { '@typescript-eslint/unbound-method': 'off' } },
  { files: ['src/**/*.ts'], ignores: ['**/*.spec.ts'], rules: { 'max-lines': ['error', 300] } },
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
