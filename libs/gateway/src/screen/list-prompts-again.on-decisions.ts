import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { ServerUpdated, ToolApproved } from '@app/events';
import { Replicas, Signals } from '@app/platform';
import { Offerings } from '../lists/offerings.js';

/** Message to other replicas, which may have the session to the server; ids are server ids. */
const DEFINITIONS_DECIDED = 'definitions-decided';

/** A prompt that was approved is offered when its server lists it again; so is one of a server that is trusted more. */
@Injectable()
export class ListPromptsAgainOnDecisions implements OnModuleInit, OnModuleDestroy {
  private stops: readonly (() => void)[] = [];

  constructor(
    private readonly offerings: Offerings,
    private readonly replicas: Replicas,
    private readonly signals: Signals,
  ) {}

  onModuleInit(): void {
    this.stops = [
      this.signals.hear(ToolApproved, ({ serverId }) => this.listAgain(serverId)),
      this.signals.hear(ServerUpdated, ({ serverId, fields }) =>
        fields.includes('trust') ? this.listAgain(serverId) : undefined,
      ),
      this.replicas.hear(({ topic, ids }) => {
        if (topic !== DEFINITIONS_DECIDED) return;
        for (const id of ids) void this.offerings.listPromptsAgain(id);
      }),
    ];
  }

  onModuleDestroy(): void {
    for (const stop of this.stops) stop();
  }

  /** The answer to the decision does not wait for the server. */
  private async listAgain(serverId: string): Promise<void> {
    void this.offerings.listPromptsAgain(serverId);
    await this.replicas.tell(DEFINITIONS_DECIDED, [serverId]);
  }
}
