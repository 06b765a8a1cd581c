import { Injectable } from '@nestjs/common';
import { EventBus } from '@nestjs/cqrs';
import { DiscoveryProgressed } from '@app/events';
import { Clock } from '@app/platform';

export const discoveryPhases = ['LISTING', 'WRITING', 'DONE', 'FAILED'] as const;
export type DiscoveryPhase = (typeof discoveryPhases)[number];

/** The last discovery of a server by this process. */
export interface Discovery {
  readonly phase: DiscoveryPhase;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** Tools the server listed; 0 until it has. */
  readonly listed: number;
  readonly written: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly error: string | null;
}

type Step = Partial<Omit<Discovery, 'startedAt' | 'finishedAt'>> & Pick<Discovery, 'phase'>;

/** How far discoveries are, for people who wait for a server with many tools. */
@Injectable()
export class DiscoveryProgress {
  private readonly discoveries = new Map<string, Discovery>();

  constructor(
    private readonly events: EventBus,
    private readonly clock: Clock,
  ) {}

  of(serverId: string): Discovery | undefined {
    return this.discoveries.get(serverId);
  }

  start(serverId: string): void {
    this.discoveries.set(serverId, {
      phase: 'LISTING',
      startedAt: this.clock.now(),
      finishedAt: null,
      listed: 0,
      written: 0,
      added: 0,
      changed: 0,
      removed: 0,
      error: null,
    });
    this.publish(serverId);
  }

  step(serverId: string, step: Step): void {
    const before = this.discoveries.get(serverId);
    if (!before) return; // removed meanwhile
    const isOver = step.phase === 'DONE' || step.phase === 'FAILED';
    const finishedAt = isOver ? this.clock.now() : null;
    this.discoveries.set(serverId, { ...before, ...step, finishedAt });
    this.publish(serverId);
  }

  forget(serverId: string): void {
    this.discoveries.delete(serverId);
  }

  private publish(serverId: string): void {
    const discovery = this.discoveries.get(serverId);
    if (!discovery) return;
    const { phase, written, listed } = discovery;
    this.events.publish(new DiscoveryProgressed(serverId, phase, written, listed));
  }
}
