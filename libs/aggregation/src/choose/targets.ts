import type { CatalogueServer, CatalogueSnapshot, CatalogueTool } from '@app/catalogue';
import { atOnce, type Sliced } from '@app/platform';
import { isServing } from '@app/registry';
import type { AggregatedQuery } from '../ask/aggregated-query.js';
import { InvalidQuery } from '../aggregation.errors.js';
import { firstMatching, type QueryRule } from './query-rule.js';
import { planFor, type QueryContext, type QueryPlan } from './tool-choice.js';
import { DEFAULT_SETTINGS, type ServerQuerySettings } from '../settings/server-query-settings.js';

/** A server of a query, with what it is asked. */
export interface Target extends QueryPlan {
  readonly server: CatalogueServer;
  /** Why it cannot be asked, whatever the plan. */
  readonly problem?: string;
  /** True: without a tool to ask, it does not count as queried. */
  readonly isOptional?: boolean;
}

/** Undefined when it is asked. */
export function whyNotAsked({ problem, calls, lookUp }: Target): string | undefined {
  if (problem !== undefined) return problem;
  return calls.length > 0 || lookUp
    ? undefined
    : 'has no tool to ask: one that is annotated read-only and takes a question';
}

/** Whether it counts in `serversQueried`. */
export function isQueried(target: Target): boolean {
  return !target.isOptional || whyNotAsked(target) === undefined;
}

/** A server that a query leaves out. */
export interface NotQueried {
  readonly server: string;
  readonly reason: string;
}

export interface Targets {
  /** Sorted by name. */
  readonly targets: readonly Target[];
  /** Sorted by name; empty for a query that names its servers. */
  readonly notQueried: readonly NotQueried[];
  /** The rule that chose them. */
  readonly rule?: QueryRule;
}

/**
 * The servers that the query names; else those of the first rule that matches; else all that are not
 * disconnected and have a tool to ask. An expected but unavailable server still counts as queried, so
 * that the answer can name it.
 */
export function targetsOf(...about: Parameters<typeof targeting>): Targets {
  return atOnce(targeting(...about));
}

/** In slices, one server each. */
export function* targeting(
  { servers, query }: AggregatedQuery,
  catalogue: CatalogueSnapshot,
  rules: readonly QueryRule[],
  settings: ReadonlyMap<string, ServerQuerySettings>,
  context: QueryContext,
): Sliced<Targets> {
  const settingsOf = ({ id }: CatalogueServer): ServerQuerySettings =>
    settings.get(id) ?? DEFAULT_SETTINGS;
  const toolsOf = toolsByServer(catalogue);
  const possible = servers
    ? servers.map((name) => serverNamed(catalogue, name))
    : [...catalogue.servers.values()].filter((server) => settingsOf(server).enabled);
  const targets: Target[] = [];
  for (const server of possible) {
    yield;
    targets.push(targetOf(server, toolsOf.get(server.id) ?? [], settingsOf(server), context));
  }
  targets.sort(byName);
  if (servers) return { targets, notQueried: [] };

  const rule = firstMatching(rules, query, (name) =>
    targets.some(({ server }) => server.name === name),
  );
  const turnedOff = [...catalogue.servers.values()]
    .filter((server) => !settingsOf(server).enabled)
    .map(({ name }) => ({ server: name, reason: 'turned off for aggregated queries' }));
  const without = (
    isLeftOut: (target: Target) => boolean,
    reasonOf: (target: Target) => string,
  ): NotQueried[] =>
    [
      ...turnedOff,
      ...targets.filter(isLeftOut).map((target) => ({
        server: target.server.name,
        reason: reasonOf(target),
      })),
    ].sort((a, b) => (a.server < b.server ? -1 : 1));
  if (!rule) {
    return {
      targets: targets.filter(isWanted).map(withOptional),
      notQueried: without(
        (target) => !isWanted(target),
        ({ server }) => server.status.toLowerCase(),
      ),
    };
  }
  const isNamed = ({ server }: Target): boolean => rule.servers.includes(server.name);
  return {
    targets: targets.filter(isNamed),
    rule,
    notQueried: without(
      (target) => !isNamed(target),
      () => 'the rule that matched does not name it',
    ),
  };
}

function isWanted({ server }: Target): boolean {
  return server.status !== 'DISCONNECTED' && server.status !== 'DISCONNECTING';
}

function withOptional(target: Target): Target {
  const { server, calls } = target;
  const isExpected = calls.length > 0 || (!isServing(server.status) && server.toolCount === 0);
  return isExpected ? target : { ...target, isOptional: true };
}

function targetOf(
  server: CatalogueServer,
  tools: readonly CatalogueTool[],
  settings: ServerQuerySettings,
  context: QueryContext,
): Target {
  const plan = planFor(tools, settings, context);
  const problem = problemOf(server, settings, plan);
  return { server, ...plan, ...(problem !== undefined && { problem }) };
}

function problemOf(
  server: CatalogueServer,
  settings: ServerQuerySettings,
  { calls, refused }: QueryPlan,
): string | undefined {
  if (!settings.enabled) return 'turned off for aggregated queries';
  if (!isServing(server.status)) return server.errorMessage ?? server.status.toLowerCase();
  const [configured] = settings.tool === null || calls.length > 0 ? [] : refused;
  return configured && `${configured.tool} ${configured.reason}`;
}

function serverNamed(catalogue: CatalogueSnapshot, name: string): CatalogueServer {
  const server = catalogue.serversByName.get(name);
  if (!server) throw new InvalidQuery('servers', `Unknown server: ${name.slice(0, 100)}`);
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
