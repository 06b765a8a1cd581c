// The architecture as data: calls go down this table and nowhere else. Everyone may use events and platform.
const mayCall = {
  events: [],
  platform: [],
  mcp: [],
  llm: [],
  vectors: ['llm'],
  access: [],
  registry: ['access'],
  sessions: ['access', 'registry', 'mcp'],
  discovery: ['access', 'sessions', 'registry', 'mcp', 'vectors'],
  classification: ['access', 'discovery', 'vectors', 'llm'],
  search: ['access', 'discovery', 'classification', 'vectors'],
  routing: ['access', 'discovery', 'sessions', 'registry', 'mcp'],
  aggregation: ['access', 'routing', 'discovery', 'vectors', 'llm'],
  gateway: [
    'access',
    'mcp',
    'registry',
    'sessions',
    'discovery',
    'classification',
    'search',
    'routing',
    'aggregation',
  ],
  health: ['access', 'sessions', 'registry', 'mcp'],
};
const leaves = ['events', 'platform'];

/** Packages that may be imported only from their home. */
const homes = {
  typeorm: '(\\.(entity|store)\\.ts$|^libs/platform/src/database/|^migrations/)',
  '@modelcontextprotocol/': '^libs/mcp/',
  '@qdrant/': '^libs/vectors/src/qdrant',
  '@anthropic-ai/': '^libs/llm/',
};

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'front-door-only',
      severity: 'error',
      from: { path: '^(apps|libs)/([^/]+)/' },
      to: { path: '^libs/([^/]+)/src/(?!index\\.ts$)', pathNot: '^libs/$2/' },
    },
    ...Object.entries(mayCall).map(([lib, down]) => ({
      name: `${lib}-calls-down`,
      severity: 'error',
      from: { path: `^libs/${lib}/` },
      to: {
        path: '^(libs|apps)/',
        pathNot: `^libs/(${[lib, ...down, ...(leaves.includes(lib) ? [] : leaves)].join('|')})/`,
      },
    })),
    ...Object.entries(homes).map(([pkg, home]) => ({
      name: `${pkg.replace(/\W/g, '')}-stays-home`,
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: `(${home}|\\.spec\\.ts$)` },
      to: { path: `(^|node_modules/)${pkg}` },
    })),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
