// What 100 views of 10,000 tools cost to compile, and what a call pays for the policy:
//   npm run --silent build && node --max-semi-space-size=64 bench/policy/compile.mjs   (as the service runs)
import { indexServers, indexTools } from '../../dist/libs/catalogue/src/catalogue-snapshot.js';
import { Permissions } from '../../dist/libs/policy/src/decide/permissions.js';
import { PolicySnapshot } from '../../dist/libs/policy/src/rows/policy-snapshot.js';

const SERVERS = 100;
const TOOLS = 10_000;
const VIEWS = 100;
const GRANTS = 500;
const OVERRIDES = 1_000;
const CALLS = 2_000_000;

const at = new Date(0);
const uuid = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const annotations = [undefined, { readOnlyHint: true }, { destructiveHint: false }];
const tools = Array.from({ length: TOOLS }, (_, i) => {
  const server = `server-${i % SERVERS}`;
  const name = `${['get', 'list', 'create', 'delete'][i % 4]}_item_${i}`;
  const inputSchema = { type: 'object', properties: { id: { type: 'string' } } };
  const hints = annotations[i % 3];
  return {
    id: i + 1,
    name: `${server}.${name}`,
    originalName: name,
    serverId: uuid(i % SERVERS),
    serverName: server,
    title: null,
    description: 'Does something with an item',
    inputSchema,
    definition: { name, inputSchema, ...(hints && { annotations: hints }) },
    isExternal: true,
    contentHash: String(i),
    withheld: null,
    skillIds: [],
    primarySkillId: null,
    isClassified: true,
    classifiedBy: null,
    discoveredAt: at,
  };
});
const servers = Array.from({ length: SERVERS }, (_, i) => ({
  id: uuid(i),
  name: `server-${i}`,
  description: null,
  status: 'CONNECTED',
  errorMessage: null,
  listFailures: {},
  trust: null,
  registeredAt: at,
}));
const indexed = indexTools(tools);
const catalogue = { version: 1, ...indexed, ...indexServers(servers, indexed) };

const rule = (effect, more = {}) => ({
  effect,
  kind: 'any',
  serverId: null,
  namePattern: null,
  skillId: null,
  annotation: null,
  ...more,
});
const views = Array.from({ length: VIEWS }, (_, i) => ({
  id: uuid(1_000 + i),
  slug: `view-${i}`,
  title: null,
  description: null,
  budgetTokens: null,
  createdAt: at,
  updatedAt: at,
  rules: [
    rule('include'),
    rule('exclude', { namePattern: 'delete_*' }),
    rule('exclude', { serverId: uuid(i % SERVERS) }),
    rule('exclude', { kind: 'tool', annotation: 'destructive', serverId: uuid((i + 1) % SERVERS) }),
  ],
}));
const grants = Array.from({ length: GRANTS }, (_, i) => ({
  id: uuid(2_000 + i),
  subjectKind: 'token',
  subject: `token-${i}`,
  viewId: uuid(1_000 + (i % VIEWS)),
  level: 'call',
  expiresAt: null,
  callsPerMinute: null,
  createdBy: 'ops',
  createdAt: at,
}));
const overrides = Array.from({ length: OVERRIDES }, (_, i) => ({
  id: uuid(5_000 + i),
  viewId: i % 2 === 0 ? null : uuid(1_000 + (i % VIEWS)),
  serverId: tools[i * 10].serverId,
  tool: tools[i * 10].originalName,
  name: null,
  title: null,
  description: `Described by a person ${i}`,
  annotations: null,
  hiddenArguments: [],
  presetArguments: {},
  budgetTokens: null,
  basisHash: '',
  updatedBy: 'ops',
  updatedAt: at,
}));

const rows = { version: 1n, views, grants, overrides };
for (const given of [{ ...rows, overrides: [] }, rows]) {
  const begun = performance.now();
  const snapshot = new PolicySnapshot(given);
  const read = performance.now() - begun;
  const each = views.map(({ id }) => {
    const start = performance.now();
    snapshot.offerOf(id, false).catalogue(catalogue);
    return performance.now() - start;
  });
  const sum = each.reduce((total, ms) => total + ms, 0);
  console.log(
    `with ${given.overrides.length} overrides: policy read in ${read.toFixed(1)} ms; ${VIEWS} views of ${TOOLS} tools in ${sum.toFixed(0)} ms, the slowest ${Math.max(...each).toFixed(1)} ms`,
  );
}

const snapshot = new PolicySnapshot(rows);
const permissions = new Permissions(
  { current: snapshot },
  { now: () => new Date(), monotonic: () => performance.now() },
);
const principal = { name: 'token-7', scopes: ['call'], subjects: ['token:token-7'] };
let found = 0;
for (const calls of [CALLS / 10, CALLS]) {
  const start = performance.now();
  for (let i = 0; i < calls; i++) {
    found += permissions.onView(principal, 'view-7').offer.catalogue(catalogue).tools.length;
  }
  const ns = ((performance.now() - start) / calls) * 1e6;
  if (calls === CALLS) console.log(`a call decides in ${ns.toFixed(0)} ns (${found > 0})`);
}
