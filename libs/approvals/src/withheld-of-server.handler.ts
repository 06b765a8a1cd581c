import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { type WithheldDefinitions, WithheldOfServer } from '@app/registry';
import { ApprovalStore } from './approval.store.js';
import { hashOfAll } from './decide/pin.js';

@QueryHandler(WithheldOfServer)
export class WithheldOfServerHandler implements IQueryHandler<WithheldOfServer> {
  constructor(private readonly approvals: ApprovalStore) {}

  async execute({ serverId }: WithheldOfServer): Promise<WithheldDefinitions> {
    const rows = await this.approvals.hashesOf(serverId);
    const pending = rows.filter(({ state }) => state === 'PENDING').map(({ hash }) => hash);
    return {
      tools: rows.filter(({ kind }) => kind === 'tool').length,
      prompts: rows.filter(({ kind }) => kind === 'prompt').length,
      instructions: rows.filter(({ kind }) => kind === 'instructions').length,
      hash: pending.length === 0 ? null : hashOfAll(pending),
    };
  }
}
