import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { ServerUpdated, ToolApproved } from '@app/events';
import { Replicas, Signals } from '@app/platform';
import { SessionPool } from '@app/sessions';
import { Offerings } from '../lists/offerings.js';
import { ServerInstructions } from '../lists/server-instructions.js';

/** Message to other replicas, which may have the session to the server; ids are server ids. */
const DEFINITIONS_DECIDED = 'definitions-decided';

/** What was approved, prompts or instructions, is offered when its server says it again; so it is with another trust. */
@Injectable()
export class ScreenAgainOnDecisions implements OnModuleInit, OnModuleDestroy {
  private stops: readonly (() => void)[] = [];

  constructor(
    private readonly offerings: Offerings,
    private readonly instructions: ServerInstructions,
    private readonly sessions: SessionPool,
    private readonly replicas: Replicas,
    private readonly signals: Signals,
  ) {}

  onModuleInit(): void {
    this.stops = [
      this.signals.hear(ToolApproved, ({ serverId }) => this.screenEverywhere(serverId)),
      this.signals.hear(ServerUpdated, ({ serverId, fields }) =>
        fields.includes('trust') ? this.screenEverywhere(serverId) : undefined,
      ),
      this.replicas.hear(({ topic, ids }) => {
        if (topic !== DEFINITIONS_DECIDED) return;
        for (const id of ids) this.screen(id);
      }),
    ];
  }

  onModuleDestroy(): void {
    for (const stop of this.stops) stop();
  }

  /** The answer to the decision does not wait for the server. */
  private async screenEverywhere(serverId: string): Promise<void> {
    this.screen(serverId);
    await this.replicas.tell(DEFINITIONS_DECIDED, [serverId]);
  }

  private screen(serverId: string): void {
    const session = this.sessions.get(serverId);
    if (session) void this.instructions.noteAgain(serverId, session);
    void this.offerings.listPromptsAgain(serverId);
  }
}
