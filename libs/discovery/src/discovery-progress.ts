import { Injectable } from '@nestjs/common';
import { Clock } from '@app/platform';

export const discoveryPhases = ['LISTING', 'WRITING', 'DONE', 'FAILED'] as const;
export type DiscoveryPhase = (typeof discoveryPhases)[number];

/** The last discovery of a server by this process. */
export interface Discovery {
  readonly phase: DiscoveryPhase;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** Number of tools listed by the server; 0 until the list is complete. */
  readonly listed: number;
  readonly written: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly error: string | null;
}

type Step = Partial<Omit<Discovery, 'startedAt' | 'finishedAt'>> & Pick<Discovery, 'phase'>;

/** Progress of discoveries, shown to people who wait for a server with many tools. */
@Injectable()
export class DiscoveryProgress {
  private readonly discoveries = new Map<string, Discovery>();

  constructor(private readonly clock: Clock) {}

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
  }

  step(serverId: string, step: Step): void {
    const before = this.discoveries.get(serverId);
    if (!before) return; // removed in the meantime
    const isOver = step.phase === 'DONE' || step.phase === 'FAILED';
    const finishedAt = isOver ? this.clock.now() : null;
    this.discoveries.set(serverId, { ...before, ...step, finishedAt });
  }

  forget(serverId: string): void {
    this.discoveries.delete(serverId);
  }
}
