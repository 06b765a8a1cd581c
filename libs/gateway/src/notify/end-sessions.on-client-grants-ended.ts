import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { ClientGrantsEnded } from '@app/events';
import { McpEndpoint } from '@app/mcp-server';
import { PassingOn, Signals } from '@app/platform';

/** New requests of the OAuth client are refused already; its sessions and streams that were open before end too. */
@Injectable()
export class EndSessionsOnClientGrantsEnded implements OnModuleInit, OnModuleDestroy {
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly endpoint: McpEndpoint,
    private readonly passing: PassingOn,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.signals.hear(ClientGrantsEnded, () => {
      this.endpoint.endUnadmitted();
      this.passing.endOver();
    });
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
