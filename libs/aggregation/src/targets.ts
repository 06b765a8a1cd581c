import type { CatalogueServer, CatalogueSnapshot, CatalogueTool } from '@app/discovery';
import type { AggregatedQuery } from './aggregated-query.js';
import { InvalidQuestion } from './aggregation.errors.js';
import { firstMatching, type QueryRule } from './query-rule.js';
import { planFor, type Question, type QueryPlan } from './query-tool.js';
import { DEFAULT_SETTINGS, type ServerSettings } from './server-settings.js';

/** A server that counts as queried. */
export interface Target extends QueryPlan {
  readonly server: CatalogueServer;
  /** Set when it cannot be asked, whatever the plan. */
  readonly problem?: string;
}

export interface Targets {
  /** By name. */
  readonly targets: readonly Target[];
  /** The rule that chose them, if one did. */
  readonly rule?: QueryRule;
}

/**
 * Whom to ask: the servers the question names; else those of the first rule that matches; else every
 * server that has something to ask. One that should be there and is not counts as queried, so that the
 * answer tells who is missing in it.
 */
export function targetsOf(
  { servers, query }: AggregatedQuery,
  catalogue: CatalogueSnapshot,
  rules: readonly QueryRule[],
  settings: ReadonlyMap<string, ServerSettings>,
  question: Question,
): Targets {
  const settingsOf = ({ id }: CatalogueServer): ServerSettings =>
    settings.get(id) ?? DEFAULT_SETTINGS;
  const toolsOf = toolsByServer(catalogue);
  const target = (server: CatalogueServer): Target =>
    targetOf(server, toolsOf.get(server.id) ?? [], settingsOf(server), question);
  if (servers)
    return { targets: servers.map((name) => target(serverNamed(catalogue, name))).sort(byName) };

  const wanted = [...catalogue.servers.values()]
    .filter((server) => settingsOf(server).enabled)
    .map(target)
    .sort(byName);
  const isThere = (name: string): boolean => wanted.some(({ server }) => server.name === name);
  const rule = firstMatching(rules, query, isThere);
  if (!rule) return { targets: wanted.filter(isMissedWhenSilent) };
  return { targets: wanted.filter(({ server }) => rule.servers.includes(server.name)), rule };
}

/** Nobody expects words of a server that somebody disconnected, or that never had anything to ask. */
function isMissedWhenSilent({ server, calls }: Target): boolean {
  if (server.status === 'DISCONNECTED') return false;
  return calls.length > 0 || (!isServing(server) && server.toolCount === 0);
}

function targetOf(
  server: CatalogueServer,
  tools: readonly CatalogueTool[],
  settings: ServerSettings,
  question: Question,
): Target {
  const plan = planFor(tools, settings, question);
  const problem = problemOf(server, settings, plan);
  return { server, ...plan, ...(problem !== undefined && { problem }) };
}

function problemOf(
  server: CatalogueServer,
  settings: ServerSettings,
  { calls, refused }: QueryPlan,
): string | undefined {
  if (!settings.enabled) return 'turned off for aggregated queries';
  if (!isServing(server)) return server.errorMessage ?? server.status.toLowerCase();
  if (calls.length > 0) return undefined;
  const [configured] = settings.tool === null ? [] : refused;
  return configured
    ? `${configured.tool} ${configured.reason}`
    : 'has no tool to ask: one that is annotated read-only and takes a question';
}

function isServing({ status }: CatalogueServer): boolean {
  return status === 'CONNECTED' || status === 'DEGRADED';
}

function serverNamed(catalogue: CatalogueSnapshot, name: string): CatalogueServer {
  const server = catalogue.serversByName.get(name);
  if (!server) throw new InvalidQuestion('servers', `Unknown server: ${name.slice(0, 100)}`);
  return server;
}

function toolsByServer({ tools }: CatalogueSnapshot): ReadonlyMap<string, CatalogueTool[]> {
  const byServer = new Map<string, CatalogueTool[]>();
  for (const tool of tools) {
    const known = byServer.get(tool.serverId);
    if (known) known.push(tool);
    else byServer.set(tool.serverId, [tool]);
  }
  return byServer;
}

function byName(a: Target, b: Target): number {
  return a.server.name < b.server.name ? -1 : 1;
}
