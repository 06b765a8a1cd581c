import { Command } from '@nestjs/cqrs';
import type { Tx } from '@app/platform';

/**
 * Deletes the tools of a server in the transaction that deletes the server. Handled by the catalogue, which owns the
 * tools table.
 */
export class RemoveTools extends Command<void> {
  constructor(
    readonly serverId: string,
    readonly tx: Tx,
  ) {
    super();
  }
}
