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
  /** Nobody expects words of it: without anything to ask, it does not count as queried. */
  readonly isOptional?: boolean;
}

/** Undefined when it is asked. */
export function whyNotAsked({ problem, calls, lookUp }: Target): string | undefined {
  if (problem !== undefined) return problem;
  return calls.length > 0 || lookUp
    ? undefined
    : 'has no tool to ask: one that is annotated read-only and takes a question';
}

/** Counts as queried: it is asked, or it is missed. */
export function isQueried(target: Target): boolean {
  return !target.isOptional || whyNotAsked(target) === undefined;
}

export interface Targets {
  /** By name. */
  readonly targets: readonly Target[];
  /** The rule that chose them, if one did. */
  readonly rule?: QueryRule;
}

/**
 * Whom to ask: the servers the question names; else those of the first rule that matches; else every
 * server that is there, of which those count that have something to ask. One that should be there and is
 * not counts as queried, so that the answer tells who is missing in it.
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
  const rule = firstMatching(rules, query, (name) =>
    wanted.some(({ server }) => server.name === name),
  );
  if (!rule) return { targets: wanted.filter(isThere).map(optionalUnlessMissed) };
  return { targets: wanted.filter(({ server }) => rule.servers.includes(server.name)), rule };
}

/** Nobody expects words of a server that somebody disconnected. */
function isThere({ server }: Target): boolean {
  return server.status !== 'DISCONNECTED';
}

function optionalUnlessMissed(target: Target): Target {
  const { server, calls } = target;
  const isMissed = calls.length > 0 || (!isServing(server) && server.toolCount === 0);
  return isMissed ? target : { ...target, isOptional: true };
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
  const [configured] = settings.tool === null || calls.length > 0 ? [] : refused;
  return configured && `${configured.tool} ${configured.reason}`;
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
