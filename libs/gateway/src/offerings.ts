import { Injectable, Logger } from '@nestjs/common';
import { Catalogue, type CatalogueServer } from '@app/discovery';
import { canonicalName, type ListKind, type UpstreamSession, wireName } from '@app/mcp';
import type { JsonObject } from '@app/platform';
import { SessionPool } from '@app/sessions';
import { templateMatches } from './uri-template.js';

const LIMITS = { maxItems: 10_000, maxPages: 100, timeoutMs: 30_000 };

/** Prompts, resources and resource templates of one server, as it lists them. */
interface Offering {
  readonly prompts: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
}
const nothing: Offering = { prompts: [], resources: [], resourceTemplates: [] };

export interface OfferedPrompt {
  /** The name that clients use. */
  readonly name: string;
  readonly originalName: string;
  readonly server: CatalogueServer;
  readonly definition: JsonObject;
}

/**
 * What servers offer besides tools, kept in memory so that a list never waits for a server: read when a
 * session opens and when the server says that it changed.
 */
@Injectable()
export class Offerings {
  private readonly logger = new Logger(Offerings.name);
  private readonly offerings = new Map<string, Offering>();
  private readonly listeners = new Set<(kind: 'prompts' | 'resources') => void>();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly sessions: SessionPool,
  ) {}

  watch(listener: (kind: 'prompts' | 'resources') => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async refresh(serverId: string): Promise<void> {
    const session = this.sessions.get(serverId);
    if (!session) return;
    const before = this.offerings.get(serverId) ?? nothing;
    const [prompts, resources, resourceTemplates] = await Promise.all([
      this.read(session, 'prompts', 'prompts', before.prompts),
      this.read(session, 'resources', 'resources', before.resources),
      this.read(session, 'resources', 'resourceTemplates', before.resourceTemplates),
    ]);
    this.offerings.set(serverId, { prompts, resources, resourceTemplates });
    if (!same(before.prompts, prompts)) this.tell('prompts');
    if (!same([before.resources, before.resourceTemplates], [resources, resourceTemplates])) {
      this.tell('resources');
    }
  }

  forget(serverId: string): void {
    const before = this.offerings.get(serverId);
    if (!before) return;
    this.offerings.delete(serverId);
    if (before.prompts.length > 0) this.tell('prompts');
    if (before.resources.length > 0 || before.resourceTemplates.length > 0) this.tell('resources');
  }

  prompts(): readonly OfferedPrompt[] {
    return this.servers()
      .flatMap(({ server, prompts }) =>
        prompts.flatMap((definition) => {
          const originalName = definition['name'];
          if (typeof originalName !== 'string') return [];
          const name = wireName(server.name, originalName);
          return [{ name, originalName, server, definition: { ...definition, name } }];
        }),
      )
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** By the name in the list, by `server.prompt`, or by the bare name where only one server has it. */
  findPrompt(name: string): OfferedPrompt | undefined {
    const prompts = this.prompts();
    const named = prompts.find(
      (prompt) =>
        prompt.name === name || canonicalName(prompt.server.name, prompt.originalName) === name,
    );
    if (named) return named;
    const bare = prompts.filter((prompt) => prompt.originalName === name);
    return bare.length === 1 ? bare[0] : undefined;
  }

  /** A URI that several servers offer stands for the first of them, in the order of their names. */
  resources(): readonly JsonObject[] {
    return firstOfEach(
      this.servers().flatMap(({ resources }) => resources),
      'uri',
    );
  }

  resourceTemplates(): readonly JsonObject[] {
    return firstOfEach(
      this.servers().flatMap(({ resourceTemplates }) => resourceTemplates),
      'uriTemplate',
    );
  }

  /** The server a URI (or a template) belongs to: listed, else matched, else the only one that could have it. */
  serverOf(uri: string): CatalogueServer | undefined {
    const servers = this.servers();
    const lists = servers.find(
      ({ resources, resourceTemplates }) =>
        resources.some((resource) => resource['uri'] === uri) ||
        resourceTemplates.some((template) => template['uriTemplate'] === uri),
    );
    if (lists) return lists.server;
    const matches = servers.find(({ resourceTemplates }) =>
      resourceTemplates.some(({ uriTemplate: template }) =>
        typeof template === 'string' ? templateMatches(template, uri) : false,
      ),
    );
    if (matches) return matches.server;
    const able = servers.filter(
      ({ server }) => this.sessions.get(server.id)?.capabilities['resources'] !== undefined,
    );
    return able.length === 1 ? able[0]?.server : undefined;
  }

  /** In the order of names, so that lists are the same every time. */
  private servers(): readonly (Offering & { readonly server: CatalogueServer })[] {
    return [...this.catalogue.current.servers.values()]
      .filter((server) => server.status !== 'DISCONNECTED')
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((server) => ({ server, ...(this.offerings.get(server.id) ?? nothing) }));
  }

  /** A list that cannot be read is what it was. */
  private async read(
    session: UpstreamSession,
    capability: string,
    kind: ListKind,
    before: readonly JsonObject[],
  ): Promise<readonly JsonObject[]> {
    if (session.capabilities[capability] === undefined) return [];
    try {
      return await session.listAll(kind, LIMITS);
    } catch (error) {
      this.logger.warn({ err: error, kind }, 'a server could not list what it offers');
      return before;
    }
  }

  private tell(kind: 'prompts' | 'resources'): void {
    for (const listener of this.listeners) listener(kind);
  }
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function firstOfEach(items: readonly JsonObject[], key: string): readonly JsonObject[] {
  const seen = new Set<unknown>();
  return items.filter((item) => {
    const value = item[key];
    if (typeof value !== 'string' || seen.has(value)) return false;
    seen.add(value);
    return true;
  });
}
