import { Command } from '@nestjs/cqrs';
import type { Tx } from '@app/platform';

/**
 * Renames the tools of a renamed server in the same transaction. Handled by the catalogue, which owns the tools
 * table.
 */
export class RenameTools extends Command<void> {
  constructor(
    readonly serverId: string,
    readonly serverName: string,
    readonly tx: Tx,
  ) {
    super();
  }
}
