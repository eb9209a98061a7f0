/** What an example that imports nothing may use, by the package that exports it. */
const EXPORTS = {
  'nestjs-restify': {
    values:
      'Action allow allOf AllowAny and anyOf basic CsvRenderer CurrentActor CursorPagination deny FieldFilter FilterSet guard hide IdempotencyRecord InvalidInput IsAdmin IsAuthenticated IsAuthenticatedOrReadOnly LimitOffsetPagination MANY_TO_MANY_LIST_ACTION ModelPermissions ModelPermissionsOrAnonReadOnly ModelSerializer NdjsonRenderer NestedAction not NotFound ONE_TO_MANY_LIST_ACTION or OrderingFilter PageNumberPagination ParentPk PermissionDenied Pk ResourceController Restify restify RestifyController RestifyModule RestifyResources RestifyUrls SearchFilter strategy timingSafeEqual where',
    types:
      'AccessContext AfterCommit CommitContext CommittedWrite Denial FilterBackend FilterContext FilterParameters FilterResult Grant HookContext Json Page PageContext PageResponse ParseContext ParsedBody Permission PermissionClass RenderedRows Renderer RepresentContext Representation Row RowFilter Write WriteHooks',
  },
  '@nestjs/common': {
    values:
      'Body Get HttpCode Injectable Module Req Res Scope StreamableFile UploadedFile UseInterceptors ValidationPipe',
    types: 'CanActivate ExecutionContext INestApplication',
  },
  '@nestjs/typeorm': { values: 'InjectDataSource InjectRepository TypeOrmModule', types: '' },
  'class-transformer': { values: 'Exclude Expose', types: '' },
  'class-validator': { values: 'IsEmail IsIn IsInt IsString Length Max Min MinLength', types: '' },
  'node:crypto': { values: 'randomUUID', types: '' },
  'node:fs': { values: 'createReadStream createWriteStream', types: '' },
  'node:http': { values: '', types: 'IncomingMessage ServerResponse' },
  'node:os': { values: 'tmpdir', types: '' },
  'node:path': { values: 'join', types: '' },
  'node:stream': { values: '', types: 'Readable' },
  'node:stream/promises': { values: 'pipeline', types: '' },
  typeorm: {
    values:
      'AfterLoad BeforeInsert ChildEntity Column CreateDateColumn DataSource DeleteDateColumn Entity EntitySchema Index JoinColumn JoinTable ManyToMany ManyToOne OneToMany OneToOne PrimaryColumn PrimaryGeneratedColumn Repository TableInheritance Tree TreeChildren TreeParent Unique UpdateDateColumn VersionColumn ViewColumn ViewEntity',
    types: 'DataSourceOptions EntityManager Relation ValueTransformer',
  },
};

/** The lines that import what a source uses and does not declare. */
function importsOf(source) {
  const code = source.replace(/\/\*[^]*?\*\/|\/\/.*|'[^'\n]*'/g, ' ');
  const words = new Set(code.match(/(?<![.\w@])@?[A-Za-z_]\w*/g)?.map((word) => word.replace('@', '')) ?? []);
  const declared = new Set(
    [...code.matchAll(/\b(?:class|const|function|interface|type)\s+(\w+)/g)].map(([, name]) => name),
  );
  const used = (names) => names.split(' ').filter((name) => words.has(name) && !declared.has(name));
  return Object.entries(EXPORTS).flatMap(([from, { values, types }]) =>
    [
      ['import', used(values)],
      ['import type', used(types)],
    ]
      .filter(([, names]) => names.length > 0)
      .map(([keyword, names]) => `${keyword} { ${names.join(', ')} } from '${from}';`),
  );
}

/** The module that serves the entities of a source, where it says what the module imports: `export const API = …`. */
function moduleOf(source) {
  if (!/^export const API = /m.test(source) || /\bclass AppModule\b/.test(source)) return [];
  const classes = (decorator) =>
    [
      ...source.matchAll(
        new RegExp(String.raw`^@${decorator}\([^]*?^(?:export )?(?:abstract )?class (\w+)`, 'gm'),
      ),
    ].map(([, name]) => name);
  const list = (name, names) => (names.length > 0 ? [`  ${name}: [${[...new Set(names)].join(', ')}],`] : []);
  return [
    '',
    '@Module({',
    '  imports: [',
    '    TypeOrmModule.forRoot({',
    "      type: 'better-sqlite3',",
    "      database: ':memory:',",
    `      entities: [${[...new Set([...classes('Entity'), ...(source.includes('IdempotencyRecord') ? ['IdempotencyRecord'] : [])])].join(', ')}],`,
    '      synchronize: true,',
    '    }),',
    ...[...source.matchAll(/^export const (\w+) = RestifyModule\.forRoot/gm)].map(
      ([, name]) => `    ${name},`,
    ),
    '  ],',
    ...list('controllers', [...classes('RestifyController'), ...classes('Controller')]),
    ...list('providers', classes('Injectable')),
    '})',
    'export class AppModule {}',
  ];
}

/** What an example leaves out: the lines before it, and those behind it. Nothing where it has imports of its own. */
function scaffoldingOf(source) {
  if (/^import /m.test(source)) return { before: [], behind: [] };
  const behind = moduleOf(source);
  return { before: importsOf(`${source}\n${behind.join('\n')}`), behind };
}

/** The file that an example stands for. */
function wholeExample(source) {
  const { before, behind } = scaffoldingOf(source);
  return [...before, ...(before.length > 0 ? [''] : []), source, ...behind].join('\n');
}

module.exports = { scaffoldingOf, wholeExample };
