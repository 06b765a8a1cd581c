import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PolicyChanged } from '@app/events';
import { McpEndpoint } from '@app/mcp-server';
import { PassingOn, Signals } from '@app/platform';
import { McpSurfaces } from '../endpoints/mcp-surfaces.js';

const EXPIRED_EVERY_MS = 30_000;

/**
 * New requests follow the policy already. Sessions and streams whose caller lost its access end, also when a grant
 * expires; the others are told that their lists may have changed.
 */
@Injectable()
export class EndSessionsOnPolicyChanged implements OnModuleInit, OnModuleDestroy {
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly endpoint: McpEndpoint,
    private readonly passing: PassingOn,
    private readonly surfaces: McpSurfaces,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.signals.hear(PolicyChanged, () => {
      this.endpoint.endUnadmitted();
      this.surfaces.policyChanged();
    });
  }

  @Interval(EXPIRED_EVERY_MS)
  endExpired(): void {
    this.endpoint.endUnadmitted();
    this.passing.endOver();
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
