import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { TokensWithdrawn } from '@app/events';
import { McpEndpoint } from '@app/mcp-server';
import { Signals } from '@app/platform';

/** New requests are refused already; sessions and streams that were open before end too. */
@Injectable()
export class EndSessionsOnTokensWithdrawn implements OnModuleInit, OnModuleDestroy {
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly endpoint: McpEndpoint,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.signals.hear(TokensWithdrawn, ({ subjects }) =>
      this.endpoint.endSessionsOf(subjects),
    );
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
