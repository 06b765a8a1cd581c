// The gate of `npm run conformance`: through the service no scenario may pass fewer checks than directly, and every
// required scenario has to run and to pass on both sides.

/** The scenarios that apply to `/mcp/search`, whose tools are those of the service. */
export const SEARCH_SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
  'server-session-lifecycle',
];
export const endpoints = { server: '/mcp/servers/{name}', all: '/mcp', search: '/mcp/search' };

const ANSWERS_WITH_JSON = 'the service answers lists with JSON, which leaves no stream to check';

/** Endpoint → scenario → why it may have fewer checks there than directly; it may never have failed ones. */
export const explained = {
  server: { 'server-sse-multiple-streams': ANSWERS_WITH_JSON },
  all: {
    'server-sse-multiple-streams': ANSWERS_WITH_JSON,
    'server-stateless':
      'two advisory checks wait 1.5 s for a changed list, which the aggregate announces when its catalogue has it',
  },
  search: { 'server-sse-multiple-streams': ANSWERS_WITH_JSON },
};

/** Endpoint → scenario → why it is not compared there. */
export const incomparable = {
  server: {},
  all: {
    'http-header-validation':
      'the scenario calls the first tool of the list without arguments, which is one of the aggregator there',
  },
  search: {},
};

/** How many checks a client has depends on how many requests it makes, by a tenth. */
const CLIENT_TOLERANCE = 0.9;

export const holds = (result) => result !== undefined && result.failed === 0;

/** Whether a result is worse than the one it is measured against. */
export function isWorse(direct, through, mayHaveFewer = false) {
  if (direct === undefined) return false;
  if (through === undefined || through.failed > direct.failed) return true;
  return through.passed < direct.passed && !mayHaveFewer;
}

/** `compared`: the scenarios that apply to this endpoint; all by default. */
export function serverProblems({ where, endpoint, required, direct, through, compared }) {
  const names = compared ?? [...new Set([...required, ...direct.keys()])];
  return names.flatMap((name) => {
    if (Object.hasOwn(incomparable[endpoint], name)) return [];
    const [here, there] = [direct.get(name), through.get(name)];
    if (!holds(here) && required.includes(name)) {
      return [`${where}: ${name} does not hold directly (${shown(here)}), so nothing is compared`];
    }
    const mayHaveFewer = Object.hasOwn(explained[endpoint], name);
    if (!isWorse(here, there, mayHaveFewer)) return [];
    return [`${where}: ${name} is ${shown(there)}, and ${shown(here)} directly`];
  });
}

/** `recorded`: the results in RESULTS.md, with which optional scenarios are compared. */
export function clientProblems({ where, required, results, recorded }) {
  const unmet = required
    .filter((name) => !holds(results.get(name)) || results.get(name).passed === 0)
    .map((name) => `${where}: ${name} is required and ${shown(results.get(name))}`);
  const worse = [...recorded]
    .filter(([name]) => !required.includes(name) || holds(results.get(name)))
    .filter(([name, before]) => isWorse(leastOf(before), results.get(name)))
    .map(
      ([name, before]) =>
        `${where}: ${name} is ${shown(results.get(name))}, and was ${shown(before)}`,
    );
  return [...unmet, ...worse];
}

function leastOf({ passed, failed }) {
  return { passed: passed * CLIENT_TOLERANCE, failed };
}

export function issuerProblems({ where, required, results }) {
  return [...results].flatMap(([resource, found]) =>
    required
      .filter((name) => !holds(found.get(name)) || found.get(name).passed === 0)
      .map((name) => `${where}, ${resource}: ${name} is ${shown(found.get(name))}`),
  );
}

/** Refuses a suite that lists or runs no scenario. */
export function emptiness({ where, required, direct, client, issuer }) {
  const parts = {
    'required scenarios': required,
    'results of servers': [...direct.keys()],
    'required scenarios of clients': client.required,
    'scenarios of authorization servers': issuer.required,
    'results of authorization servers': [...issuer.results.keys()],
  };
  return Object.entries(parts)
    .filter(([, names]) => names.length === 0)
    .map(([what]) => `${where}: the suite has no ${what}`);
}

export function shown(result) {
  if (result === undefined) return 'not run';
  const total = result.passed + result.failed;
  return `${holds(result) ? 'holds' : '**fails**'} (${result.passed}/${total})`;
}

/** The client legs that RESULTS.md has: revision → scenario → result. */
export function recordedClients(text) {
  const sections = text.split(/^### The service as the client, /m).slice(1);
  return new Map(
    sections.map((section) => {
      const rows = section
        .split(/^## /m)[0]
        .matchAll(/^\| (\S+) \| \w+ \| .*\((\d+)\/(\d+)\) \|$/gm);
      const results = [...rows].map(([, name, passed, total]) => [
        name,
        { passed: +passed, failed: total - passed },
      ]);
      return [section.slice(0, section.indexOf('\n')).trim(), new Map(results)];
    }),
  );
}

/** Everything that makes `npm run conformance` fail. */
export function problemsOf(tables, recorded) {
  return tables.flatMap(({ revision, required, direct, through, client, issuer }) => [
    ...emptiness({ where: revision, required, direct, client, issuer }),
    ...Object.entries(endpoints).flatMap(([endpoint, path]) =>
      serverProblems({
        where: `${revision}, ${path}`,
        ...{ endpoint, required, direct, through: through[endpoint] },
        ...(endpoint === 'search' && {
          compared: SEARCH_SCENARIOS.filter((name) => direct.has(name)),
        }),
      }),
    ),
    ...clientProblems({
      where: `${revision}, the service as the client`,
      ...client,
      recorded: recorded.get(revision) ?? new Map(),
    }),
    ...issuerProblems({
      where: `${revision}, the authorization server`,
      ...issuer,
    }),
  ]);
}
