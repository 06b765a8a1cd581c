// The architecture as data: calls go down this table and nowhere else. Everyone may use events and platform.
const mayCall = {
  events: [],
  platform: [],
  http1: [],
  'mcp-protocol': [],
  'mcp-client': ['mcp-protocol', 'http1'],
  'mcp-server': ['mcp-protocol'],
  'api-client': [],
  llm: [],
  vectors: ['llm'],
  access: [],
  registry: ['access', 'mcp-protocol'],
  authorization: ['access', 'registry', 'policy', 'mcp-client'],
  oauth: ['access', 'registry'],
  sessions: ['access', 'registry', 'mcp-protocol', 'mcp-client', 'authorization'],
  catalogue: ['access', 'registry', 'vectors'],
  policy: ['access', 'catalogue', 'registry', 'mcp-protocol'],
  approvals: ['access', 'registry', 'catalogue'],
  activity: ['access', 'registry', 'catalogue', 'policy', 'mcp-protocol'],
  webhooks: ['access', 'activity', 'catalogue', 'registry'],
  discovery: [
    'access',
    'approvals',
    'catalogue',
    'policy',
    'sessions',
    'registry',
    'mcp-protocol',
    'mcp-client',
  ],
  classification: ['access', 'catalogue', 'policy', 'vectors', 'llm'],
  search: ['access', 'activity', 'catalogue', 'policy', 'classification', 'registry', 'vectors'],
  results: ['access', 'policy', 'registry'],
  routing: [
    'access',
    'activity',
    'catalogue',
    'policy',
    'sessions',
    'registry',
    'results',
    'mcp-protocol',
    'mcp-client',
  ],
  aggregation: [
    'access',
    'activity',
    'catalogue',
    'discovery',
    'mcp-protocol',
    'policy',
    'registry',
    'routing',
    'vectors',
    'llm',
  ],
  gateway: [
    'access',
    'activity',
    'approvals',
    'authorization',
    'mcp-protocol',
    'mcp-client',
    'mcp-server',
    'registry',
    'catalogue',
    'policy',
    'sessions',
    'discovery',
    'classification',
    'search',
    'results',
    'routing',
    'aggregation',
  ],
  health: ['access', 'sessions', 'registry', 'mcp-protocol', 'mcp-client'],
  operations: ['access', 'registry', 'policy', 'aggregation'],
};
const leaves = ['events', 'platform'];
/** Published by itself. */
const standsAlone = ['api-client'];

/** Packages that may be imported only from their home. */
const homes = {
  typeorm: '(\\.(entity|store)\\.ts$|^libs/platform/src/database/|^migrations/)',
  '@modelcontextprotocol/': '^libs/(mcp-client|mcp-server|authorization)/',
  '@anthropic-ai/': '^libs/llm/',
  'oidc-provider': '^libs/oauth/src/provider/',
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
        pathNot: `^libs/(${[lib, ...down, ...([...leaves, ...standsAlone].includes(lib) ? [] : leaves)].join('|')})/`,
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
    exclude: { path: '^libs/api-client/src/generated/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
