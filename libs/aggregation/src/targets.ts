import type { CatalogueServer, CatalogueSnapshot, CatalogueTool } from '@app/discovery';
import type { AggregatedQuery } from './aggregated-query.js';
import { InvalidQuestion } from './aggregation.errors.js';
import { firstMatching, type QueryRule } from './query-rule.js';
import { planFor, type PlannedCall, type Question, type Refusal } from './query-tool.js';
import { DEFAULT_SETTINGS, type ServerSettings } from './server-settings.js';

/** A server that counts as queried. */
export interface Target {
  readonly server: CatalogueServer;
  readonly calls: readonly PlannedCall[];
  /** Set when it cannot be asked. */
  readonly problem?: string;
  /** Tools that could have been asked and are not, and why. */
  readonly refused: readonly Refusal[];
}

export interface Targets {
  /** By name. */
  readonly targets: readonly Target[];
  /** The rule that chose them, if one did. */
  readonly rule?: QueryRule;
}

/**
 * Whom to ask: the servers the question names; else those of the first rule that matches; else every
 * available server that has something to ask. The first two count as queried even when they cannot be.
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
  if (!rule) return { targets: wanted.filter(({ calls }) => calls.length > 0) };
  return { targets: wanted.filter(({ server }) => rule.servers.includes(server.name)), rule };
}

function targetOf(
  server: CatalogueServer,
  tools: readonly CatalogueTool[],
  settings: ServerSettings,
  question: Question,
): Target {
  if (!settings.enabled) return closed(server, 'turned off for aggregated queries');
  if (server.status !== 'CONNECTED' && server.status !== 'DEGRADED') {
    return closed(server, server.errorMessage ?? server.status.toLowerCase());
  }
  const { calls, refused } = planFor(tools, settings, question);
  if (calls.length > 0) return { server, calls, refused };
  const [only] = refused;
  const problem =
    settings.tool === null || !only
      ? 'has no tool to ask: one that is annotated read-only and takes a question'
      : `${only.tool} ${only.reason}`;
  return { ...closed(server, problem), refused };
}

function closed(server: CatalogueServer, problem: string): Target {
  return { server, calls: [], problem, refused: [] };
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
