import { Injectable, Logger } from '@nestjs/common';
import type { UpstreamSession } from '@app/mcp-client';
import { InstructionScreening } from '../screen/instruction-screening.js';
import { OfferingStore } from './offering.store.js';

/** The rest is left out at every endpoint, so that all of what is shown was decided on. */
const MAX_CHARS = 65_536;

/**
 * What servers say about themselves in the handshake, as it was approved and stored: the same at every replica, and
 * before a session is open.
 */
@Injectable()
export class ServerInstructions {
  private readonly logger = new Logger(ServerInstructions.name);
  /** As in the rows: empty for a server without instructions, none while they are withheld. */
  private readonly texts = new Map<string, string>();
  /** A session says the same as long as it lasts. */
  private readonly decisions = new WeakMap<UpstreamSession, Promise<void>>();
  /** By server: those of sessions are decided on in the order in which they opened. */
  private readonly lastDecisions = new Map<string, Promise<void>>();
  /** When this process decided last, by server: rows that were read before may be older. */
  private readonly decidedAt = new Map<string, number>();
  private steps = 0;

  constructor(
    private readonly store: OfferingStore,
    private readonly screening: InstructionScreening,
  ) {}

  get(serverId: string): string | undefined {
    return this.texts.get(serverId) || undefined;
  }

  /** Decides whether those of a session are offered, once. If that fails, the next session tries again. */
  note(serverId: string, session: UpstreamSession): Promise<void> {
    let decision = this.decisions.get(session);
    if (!decision) {
      const before = this.lastDecisions.get(serverId) ?? Promise.resolve();
      decision = before.then(() => this.decide(serverId, session));
      this.decisions.set(session, decision);
      this.lastDecisions.set(serverId, decision);
    }
    return decision;
  }

  /** After a decision of a person, or another trust of the server. */
  noteAgain(serverId: string, session: UpstreamSession): Promise<void> {
    this.decisions.delete(session);
    return this.note(serverId, session);
  }

  private async decide(serverId: string, { instructions }: UpstreamSession): Promise<void> {
    const text = (instructions ?? '')
      .trim()
      .slice(0, MAX_CHARS)
      .toWellFormed()
      .replaceAll('\0', '');
    if (this.texts.get(serverId) === text) return;
    try {
      const isOffered = await this.screening.isOffered(serverId, text);
      this.decidedAt.set(serverId, ++this.steps);
      this.set(serverId, isOffered || text === '' ? text : undefined);
    } catch (error) {
      this.texts.delete(serverId);
      this.logger.warn(
        { server_id: serverId, kind: 'instructions', err: error },
        'offering.not_stored',
      );
    }
  }

  /** Reads those of these servers, or of all, from the rows. */
  async load(serverIds?: readonly string[]): Promise<void> {
    const begun = this.steps;
    const stored = await this.store.loadInstructions(serverIds);
    for (const id of serverIds ?? new Set([...this.texts.keys(), ...stored.keys()])) {
      if ((this.decidedAt.get(id) ?? 0) <= begun) this.set(id, stored.get(id));
    }
  }

  forget(serverId: string): void {
    this.texts.delete(serverId);
    this.decidedAt.delete(serverId);
    this.lastDecisions.delete(serverId);
  }

  private set(serverId: string, text: string | undefined): void {
    if (text === undefined) this.texts.delete(serverId);
    else this.texts.set(serverId, text);
  }
}
