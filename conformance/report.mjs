// The page RESULTS.md: what `npm run conformance` found.
import {
  endpoints,
  explained,
  holds,
  incomparable,
  isWorse,
  SEARCH_SCENARIOS,
  shown,
} from './gate.mjs';

function issuerSection(revision, { required, results }) {
  const cells = (name) => [...results.values()].map((found) => shown(found.get(name)));
  return [
    `### The authorization server, ${revision}`,
    '',
    'By what the client names as its resource; all scenarios have to hold.',
    '',
    `| scenario | ${[...results.keys()].join(' | ')} |`,
    `|---|${'---|'.repeat(results.size)}`,
    ...required.map((name) => `| ${[name, ...cells(name)].join(' | ')} |`),
    '',
  ];
}

export function reportOf(tables) {
  const sections = tables.map(({ revision, era, required, direct, through, client, issuer }) => {
    const names = [...direct.keys()];
    const kindOf = (side, name) => (side.includes(name) ? 'required' : 'reported');
    const row = (name) => {
      const cells = Object.keys(endpoints).map((endpoint) => {
        if (endpoint === 'search' && !SEARCH_SCENARIOS.includes(name)) return '–';
        const [here, there] = [direct.get(name), through[endpoint].get(name)];
        const isCompared = !Object.hasOwn(incomparable[endpoint], name);
        const mayHaveFewer = Object.hasOwn(explained[endpoint], name);
        const mark = isCompared && isWorse(here, there, mayHaveFewer) ? ' **worse**' : '';
        return `${shown(there)}${mark}`;
      });
      return `| ${[name, kindOf(required, name), shown(direct.get(name)), ...cells].join(' | ')} |`;
    };
    const count = (list, results) => list.filter((name) => holds(results.get(name))).length;
    return [
      `## ${revision}, ${era} fixture`,
      '',
      `Required scenarios that hold: ${count(required, direct)} of ${required.length} directly, ${count(required, through.server)} of ${required.length} through the service.`,
      '',
      `| scenario | | direct | ${Object.values(endpoints)
        .map((path) => `\`${path}\``)
        .join(' | ')} |`,
      '|---|---|---|---|---|---|',
      ...names.map(row),
      '',
      `### The service as the client, ${revision}`,
      '',
      `Required scenarios that hold: ${count(client.required, client.results)} of ${client.required.length}.`,
      '',
      '| scenario | | |',
      '|---|---|---|',
      ...[...client.results].map(
        ([name, result]) => `| ${name} | ${kindOf(client.required, name)} | ${shown(result)} |`,
      ),
      '',
      ...issuerSection(revision, issuer),
    ].join('\n');
  });
  const reasonsOf = (kind) =>
    Object.entries(kind).flatMap(([endpoint, scenarios]) =>
      Object.entries(scenarios).map(
        ([name, reason]) => `- ${name} at \`${endpoints[endpoint]}\`: ${reason}.`,
      ),
    );
  return [
    '# Conformance',
    '',
    'The official suite (`@modelcontextprotocol/conformance`, pinned in `package.json`) against the same fixture',
    'server, directly and through a running service. Written by `npm run conformance -- --write`; in brackets the',
    'checks that passed. Scenarios that are only reported do not count for the suite; those that fail directly too',
    'ask for extensions that the fixture does not have. `/mcp` has the tools and prompts of all servers under longer',
    'names, which a proxy of this test shortens; at `/mcp/search` only the scenarios apply that ask for no tool of',
    'the fixture.',
    '',
    '`npm run conformance` fails when a scenario has fewer passed or more failed checks through the service than',
    'directly, when a required one of either side or one of the authorization server does not hold or is not run, and',
    'when the service as the client has more failed checks than this page says, or a tenth fewer. Fewer checks are',
    'allowed for:',
    '',
    ...reasonsOf(explained),
    '',
    'Not compared:',
    '',
    ...reasonsOf(incomparable),
    '',
    ...sections,
  ].join('\n');
}
