import type { JsonObject, JsonValue, Trust } from '@app/platform';
import {
  type CredentialMode,
  errorShown,
  type ListFailures,
  type ServerStatus,
} from '@app/registry';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Withheld } from './withheld.js';

export interface CatalogueTool {
  readonly id: number;
  /** Canonical name `server.tool`, as used in storage and REST; the plain name for an own tool. */
  readonly name: string;
  readonly originalName: string;
  /** Server id and name are empty for an own tool. */
  readonly serverId: string;
  readonly serverName: string;
  readonly title: string | null;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The definition as the server listed it, unchanged. */
  readonly definition: JsonObject;
  readonly isExternal: boolean;
  readonly contentHash: string;
  /** Null for a tool that is offered. */
  readonly withheld: Withheld | null;
  readonly skillIds: readonly string[];
  readonly primarySkillId: string | null;
  readonly isClassified: boolean;
  /** The model that chose the skills, or `human`; null for an unclassified tool. */
  readonly classifiedBy: string | null;
  readonly discoveredAt: Date;
  /** How a view offers it instead of how its server defined it; the other members follow it already. */
  readonly offeredAs?: OfferedAs;
}

export interface OfferedAs {
  /** The name that clients see and call, in every list and look-up; undefined for the usual one. */
  readonly name: string | undefined;
  /** Removed from the schema; refused in a call. */
  readonly hiddenArguments: readonly string[];
  /** Sent unless the client gives another value. */
  readonly presetArguments: Readonly<Record<string, JsonValue>>;
  readonly budgetTokens: number | null;
}

export interface CatalogueServer {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: ServerStatus;
  readonly errorMessage: string | null;
  readonly listFailures: ListFailures;
  /** What happens to changed definitions; null: as the setting says. */
  readonly trust: Trust | null;
  /** Whose credentials calls are made with. */
  readonly credentials: CredentialMode;
  /** Counted from the tools in the same snapshot, so that every counted tool can be called (contract R39). */
  readonly toolCount: number;
  /** Tools that wait for approval. */
  readonly withheldCount: number;
  readonly registeredAt: Date;
}

/** Tools and the ways to find them. */
export interface ToolIndexes {
  /** Tools of all servers, available or not, and own tools; ordered by name. */
  readonly tools: readonly CatalogueTool[];
  readonly toolsById: ReadonlyMap<number, CatalogueTool>;
  readonly toolsByName: ReadonlyMap<string, CatalogueTool>;
  /** By server id, '' for own tools; each list ordered by name. Servers without tools have no entry. */
  readonly toolsByServer: ReadonlyMap<string, readonly CatalogueTool[]>;
  /** Tools of servers only, without own tools and those that a view gives another name. */
  readonly toolsByOriginalName: ReadonlyMap<string, readonly CatalogueTool[]>;
}

/** Tools that are offered, and apart from them those that wait for approval: no reader offers those by mistake. */
export interface AllTools extends ToolIndexes {
  readonly withheld: ToolIndexes;
}

/** Immutable snapshot of servers and tools; every change creates the next one. */
export interface CatalogueSnapshot extends AllTools {
  readonly version: number;
  /** It holds what a view offers, which may be few tools of many. */
  readonly isPart?: boolean;
  readonly servers: ReadonlyMap<string, CatalogueServer>;
  readonly serversByName: ReadonlyMap<string, CatalogueServer>;
}

/** A server as its row shows it; tools are counted in the snapshot. */
export type ShownServer = Omit<CatalogueServer, 'toolCount' | 'withheldCount'>;

export function indexServers(
  servers: Iterable<ShownServer>,
  { toolsByServer, withheld }: AllTools,
): Pick<CatalogueSnapshot, 'servers' | 'serversByName'> {
  const views = [...servers]
    .map((server): CatalogueServer => {
      const { id, name, description, status, errorMessage, trust, registeredAt } = server;
      const { listFailures, credentials } = server;
      const toolCount = toolsByServer.get(id)?.length ?? 0;
      const withheldCount = withheld.toolsByServer.get(id)?.length ?? 0;
      const shown = { id, name, description, status, errorMessage, trust, registeredAt };
      return { ...shown, toolCount, withheldCount, listFailures, credentials };
    })
    .sort(byName);
  return {
    servers: new Map(views.map((server) => [server.id, server])),
    serversByName: new Map(views.map((server) => [server.name, server])),
  };
}

export function isSameServer(a: CatalogueServer, b: CatalogueServer | undefined): boolean {
  return (
    a.name === b?.name &&
    a.description === b.description &&
    a.status === b.status &&
    a.errorMessage === b.errorMessage &&
    a.trust === b.trust &&
    a.credentials === b.credentials &&
    isDeepStrictEqual(a.listFailures, b.listFailures) &&
    a.toolCount === b.toolCount &&
    a.withheldCount === b.withheldCount
  );
}

/** Must match the SQL in `ServerStore.digest`. */
export function digestOfServers(servers: CatalogueSnapshot['servers']): string {
  const lines = [...servers.values()]
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, name, status, description, errorMessage, listFailures, trust, credentials }) => {
      const { tools, prompts, resources, resourceTemplates } = listFailures;
      // The row has no error of its own where lists that could not be read are shown as one.
      const ofLists = errorShown({ status, errorMessage: null, listFailures });
      const error = errorMessage === ofLists ? null : errorMessage;
      const lists = [tools, prompts, resources, resourceTemplates];
      return [id, name, status, description, error, ...lists, trust, credentials]
        .filter((shown) => shown !== null && shown !== undefined)
        .join(' ');
    });
  return lines.length > 0 ? createHash('md5').update(lines.join(';')).digest('hex') : '';
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
