import type { CatalogueServer } from '@app/catalogue';
import { catalogueOf, serverIdOf } from '../../../../test/support/catalogue.js';
import type { AggregatedQuery } from '../ask/aggregated-query.js';
import type { QueryRule } from './query-rule.js';
import { DEFAULT_SETTINGS, type ServerQuerySettings } from '../settings/server-query-settings.js';
import { isQueried, targetsOf, whyNotAsked } from './targets.js';

const search = {
  name: 'search',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  annotations: { readOnlyHint: true },
};
const purge = { ...search, name: 'purge', annotations: { destructiveHint: true } };

const pictured = catalogueOf([
  { name: 'wiki', tools: [search] },
  { name: 'docs', tools: [search, purge] },
  { name: 'sick', status: 'DEGRADED', tools: [search] },
  { name: 'down', status: 'ERROR', tools: [search] },
  { name: 'never', status: 'ERROR', tools: [] },
  { name: 'off', status: 'DISCONNECTED', tools: [search] },
  { name: 'mute', tools: [purge] },
]);
const tools = pictured.tools.map((tool) => ({ ...tool, inputSchema: search.inputSchema }));
const catalogue = { ...pictured, tools };

function targets(
  asked: Partial<AggregatedQuery> = {},
  rules: readonly QueryRule[] = [],
  settings: Record<string, Partial<ServerQuerySettings>> = {},
) {
  const query = { query: 'why?', maxResults: 30, servers: undefined, explain: false, ...asked };
  const rows = new Map(
    Object.entries(settings).map(([name, own]) => [
      serverIdOf(name),
      { ...DEFAULT_SETTINGS, ...own },
    ]),
  );
  return targetsOf(query, catalogue, rules, rows, {
    query: query.query,
    similarity: () => 0,
    maxCalls: 1,
  });
}
const namesOf = (...args: Parameters<typeof targets>): string[] =>
  targets(...args)
    .targets.filter(isQueried)
    .map(({ server }: { server: CatalogueServer }) => server.name);
const problemOf = (name: string, settings = {}): string | undefined =>
  targets({ servers: [name] }, [], settings).targets.map(whyNotAsked)[0];

describe(targetsOf, () => {
  it('are all servers with a tool to ask, and those that are expected but unavailable', () => {
    expect(namesOf()).toEqual(['docs', 'down', 'never', 'sick', 'wiki']);
  });

  it('are the servers that the query names, before any rule', () => {
    const rules = [{ pattern: '.', servers: ['wiki'] }];
    expect(namesOf({ servers: ['wiki', 'docs'] }, rules)).toEqual(['docs', 'wiki']);
    expect(() => targets({ servers: ['docs', 'missing'] })).toThrow('Unknown server: missing');
  });

  it('are those of the first matching rule; a rule with only disabled servers does not match', () => {
    const rules = [
      { pattern: 'how', servers: ['docs'] },
      { pattern: 'why', servers: ['wiki', 'down', 'missing'] },
    ];
    expect(targets({}, rules).rule).toBe(rules[1]);
    expect(namesOf({}, rules)).toEqual(['down', 'wiki']);
    const bothOff = { wiki: { enabled: false }, down: { enabled: false } };
    expect(namesOf({}, rules, bothOff)).toEqual(['docs', 'never', 'sick']);
  });

  it('say why a server cannot be asked', () => {
    expect(problemOf('docs')).toBeUndefined();
    expect(problemOf('sick')).toBeUndefined();
    expect(problemOf('down')).toBe('error');
    expect(problemOf('off')).toBe('disconnected');
    expect(problemOf('mute')).toMatch(/^has no tool to ask/);
    expect(problemOf('docs', { docs: { enabled: false } })).toMatch(/^turned off/);
    expect(problemOf('docs', { docs: { tool: 'purge' } })).toBe('purge is annotated destructive');
  });
});
