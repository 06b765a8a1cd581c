import { Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { CatalogueServer } from '@app/catalogue';
import { Clock, Coalescer } from '@app/platform';
import { SetListFailure, SetOfferingWarnings } from '@app/registry';
import { SessionPool } from '@app/sessions';
import { setImmediate as turn } from 'node:timers/promises';
import { OFFERED_KINDS, type OfferedKind } from './offered-list.js';
import type { OfferingServer } from './offerings-view.js';
import { Remarks } from './read-offered.js';

const LIMITS = { firstMs: 200, maxMs: 10_000, maxKeys: 1 };
const KINDS_WITH_OWNERS = ['resources', 'resourceTemplates'] as const;
/** Items processed before yielding to the event loop. */
const SLICE_ITEMS = 2_000;

/**
 * Warnings for the owner of a server about its prompts and resources: items that are not published, and items that
 * an earlier registered server already lists. Written by the process that leads.
 */
@Injectable()
export class OfferingWarnings {
  private readonly logger = new Logger(OfferingWarnings.name);
  private readonly remarks = new Map<string, Map<OfferedKind, readonly string[]>>();
  private readonly written = new Map<string, string>();
  private readonly coalescer: Coalescer;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly commands: CommandBus,
    private readonly sessions: SessionPool,
    clock: Clock,
  ) {
    this.coalescer = new Coalescer(clock, LIMITS);
  }

  note(serverId: string, kind: OfferedKind, lines: readonly string[]): void {
    let kinds = this.remarks.get(serverId);
    if (!kinds) this.remarks.set(serverId, (kinds = new Map()));
    kinds.set(kind, lines);
  }

  /** Stores why a list could not be read, or that it could (contract R42). Never rejects. */
  async noteFailure(serverId: string, kind: OfferedKind, reason: string | null): Promise<void> {
    if (!this.sessions.leads) return;
    try {
      await this.commands.execute(new SetListFailure(serverId, kind, reason));
    } catch (error) {
      this.logger.warn({ server_id: serverId, kind, err: error }, 'offerings.failure_not_stored');
    }
  }

  forget(serverId: string): void {
    this.remarks.delete(serverId);
    this.written.delete(serverId);
  }

  /** `servers` returns the listed servers in order of registration. */
  update(servers: () => readonly OfferingServer[]): void {
    this.coalescer.run('all', () => {
      this.running = this.running
        .then(() => this.write(servers()))
        .catch((error: unknown) => {
          this.logger.warn({ err: error }, 'offering.warnings_not_written');
        });
    });
  }

  private async write(servers: readonly OfferingServer[]): Promise<void> {
    if (!this.sessions.leads) return;
    const clashes = await clashesOf(servers);
    for (const { server } of servers) {
      const own = this.remarks.get(server.id);
      // This process has not read the server yet: keep the warnings in the row.
      if (!own) continue;
      const remarks = OFFERED_KINDS.flatMap((kind) => own.get(kind) ?? []);
      const lines = [...remarks, ...(clashes.get(server.id) ?? [])];
      const text = JSON.stringify(lines);
      if (this.written.get(server.id) === text) continue;
      await this.commands.execute(new SetOfferingWarnings(server.id, lines));
      this.written.set(server.id, text);
    }
  }
}

/** By server, the items that an earlier registered server already lists. */
export async function clashesOf(
  servers: readonly OfferingServer[],
): Promise<ReadonlyMap<string, string[]>> {
  const clashes = new Map<string, string[]>();
  let looked = 0;
  for (const kind of KINDS_WITH_OWNERS) {
    const owners = new Map<string, CatalogueServer>();
    for (const { server, offering } of servers) {
      const remarks = new Remarks(kind);
      for (const { key } of offering[kind]?.items ?? []) {
        const owner = owners.get(key);
        if (owner) remarks.add(reasonOf(owner, server), key);
        else owners.set(key, server);
        if (++looked % SLICE_ITEMS === 0) await turn();
      }
      const lines = remarks.lines();
      if (lines.length > 0) clashes.set(server.id, [...(clashes.get(server.id) ?? []), ...lines]);
    }
  }
  return clashes;
}

function reasonOf(owner: CatalogueServer, server: CatalogueServer): string {
  return `not at /mcp, because ${owner.name} was registered first and lists the same; at /mcp/servers/${server.name} only`;
}
