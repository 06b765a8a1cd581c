import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Clock } from '@app/platform';
import { ToolVectors } from '@app/vectors';
import { Catalogue } from './catalogue.js';
import { itemOf } from './tool-item.js';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Keeps the vectors those of the catalogue: one run at a time, again when it changed meanwhile, and
 * after a failure with growing waits until the backlog is done.
 */
@Injectable()
export class IndexToolsOnCatalogueChanges implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(IndexToolsOnCatalogueChanges.name);
  private readonly stop = new AbortController();
  private unsubscribe: (() => void) | undefined;
  private running: Promise<void> | undefined;
  private wanted = false;
  private isDoubted = false;
  private failures = 0;
  private retry = new AbortController();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly vectors: ToolVectors,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.unsubscribe = this.catalogue.subscribe((next, previous) => {
      if (next.toolsById !== previous.toolsById) void this.request();
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.unsubscribe?.();
    this.stop.abort();
    this.retry.abort();
    await this.running;
  }

  /** Resolves when vectors and catalogue agree, or the attempt failed and will be repeated. */
  request(): Promise<void> {
    this.wanted = true;
    this.retry.abort();
    this.running ??= this.run().finally(() => {
      this.running = undefined;
      // Asked for between the last look and the end of the run.
      if (this.wanted && !this.stop.signal.aborted) void this.request();
    });
    return this.running;
  }

  /** Looks at what the index really holds, not at what this process wrote there; if that can differ. */
  async verify(): Promise<void> {
    if (this.vectors.isLocal) return;
    this.isDoubted = true;
    return this.request();
  }

  private async run(): Promise<void> {
    while (this.wanted && !this.stop.signal.aborted) {
      this.wanted = false;
      const fresh = this.isDoubted;
      this.isDoubted = false;
      try {
        await this.vectors.converge(this.catalogue.current.tools.map(itemOf), fresh);
        this.failures = 0;
      } catch {
        // The vectors have said what is wrong.
        this.failures++;
        this.logger.debug({ failures: this.failures }, 'the vectors are behind the catalogue');
        this.retryLater();
      }
    }
  }

  private retryLater(): void {
    this.retry = new AbortController();
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (this.failures - 1), LONGEST_WAIT_MS);
    void this.clock.sleep(wait, this.retry.signal).then(
      () => this.request(),
      () => undefined,
    );
  }
}
