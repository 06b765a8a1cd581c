import { Injectable, Logger } from '@nestjs/common';
import { OfferingStore } from './offering.store.js';

/** Long instructions use up the context window of the model. */
export const MAX_INSTRUCTIONS_CHARS = 1_500;

/**
 * What servers say about themselves in the handshake, as stored with their lists: the same at every replica, and before
 * a session is open.
 */
@Injectable()
export class ServerInstructions {
  private readonly logger = new Logger(ServerInstructions.name);
  private readonly texts = new Map<string, string>();

  constructor(private readonly store: OfferingStore) {}

  get(serverId: string): string | undefined {
    return this.texts.get(serverId);
  }

  /** Those of a new session. If they cannot be stored, the next session tries again. */
  async note(serverId: string, instructions: string | undefined): Promise<void> {
    const text = instructions
      ?.trim()
      .slice(0, MAX_INSTRUCTIONS_CHARS + 1)
      .toWellFormed();
    if (this.texts.get(serverId) === text) return;
    try {
      await this.store.writeInstructions(serverId, text);
      this.set(serverId, text);
    } catch (error) {
      this.logger.warn(
        { server_id: serverId, kind: 'instructions', err: error },
        'offering.not_stored',
      );
    }
  }

  /** Reads those of these servers, or of all, from the rows. */
  async load(serverIds?: readonly string[]): Promise<void> {
    const stored = await this.store.loadInstructions(serverIds);
    for (const id of serverIds ?? this.texts.keys()) if (!stored.has(id)) this.texts.delete(id);
    for (const [id, text] of stored) this.set(id, text);
  }

  forget(serverId: string): void {
    this.texts.delete(serverId);
  }

  private set(serverId: string, text: string | undefined): void {
    if (text === undefined) this.texts.delete(serverId);
    else this.texts.set(serverId, text);
  }
}
