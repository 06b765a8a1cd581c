import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { CatalogueReplaced } from '@app/events';
import { backoffMs, Clock, CoalescedRuns, Retries, Signals } from '@app/platform';
import { ToolVectors } from '@app/vectors';
import { Catalogue } from '../catalogue.js';
import { itemOf } from '../tool-text.js';

const RETRY = { firstMs: 1_000, longestMs: 60_000 };

/**
 * Keeps the vector index in line with the catalogue: one run at a time, another run if the catalogue changed in
 * the meantime, and retries with backoff after a failure.
 */
@Injectable()
export class IndexToolsOnCatalogueReplaced implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(IndexToolsOnCatalogueReplaced.name);
  private readonly runs = new CoalescedRuns();
  private readonly retries: Retries;
  private stopHearing: (() => void) | undefined;
  private isDoubted = false;
  /** Tools to compare; undefined for all. */
  private changed: Set<number> | undefined;
  private isStopped = false;

  constructor(
    private readonly catalogue: Catalogue,
    private readonly vectors: ToolVectors,
    private readonly signals: Signals,
    clock: Clock,
  ) {
    this.retries = new Retries(clock, (failures) => backoffMs(failures, RETRY));
  }

  onModuleInit(): void {
    this.stopHearing = this.signals.hear(CatalogueReplaced, (change) => this.follow(change));
  }

  async onModuleDestroy(): Promise<void> {
    this.stopHearing?.();
    this.isStopped = true;
    this.retries.stop();
    // Waits for the run in progress; one after it does nothing.
    await this.request();
  }

  /** Resolves when the index matches the catalogue, or when the attempt failed and a retry is scheduled. */
  request(): Promise<void> {
    this.changed = undefined;
    return this.run();
  }

  private run(): Promise<void> {
    return this.runs.run('index', () => this.converge());
  }

  /** Compares with the contents of a remote index instead of what this process last wrote to it. */
  async verify(): Promise<void> {
    if (this.vectors.isLocal) return;
    this.isDoubted = true;
    return this.request();
  }

  /** Awaited only if the index and the model are in this process; a remote model may be slow. */
  private follow({ written, classified, removed }: CatalogueReplaced): Promise<void> | undefined {
    if (written.length + classified.length + removed.length === 0) return undefined;
    for (const list of [written, classified, removed]) {
      for (const id of list) this.changed?.add(id);
    }
    const done = this.run();
    return this.vectors.isLocal ? done : undefined;
  }

  private async converge(): Promise<void> {
    if (this.isStopped) return;
    const fresh = this.isDoubted;
    const { changed } = this;
    this.isDoubted = false;
    this.changed = new Set();
    try {
      const isDone = changed !== undefined && !fresh && (await this.followChanges(changed));
      if (!isDone) await this.vectors.converge(this.catalogue.current.tools.map(itemOf), fresh);
      this.retries.clear('index');
    } catch {
      this.changed = undefined;
      // ToolVectors has already logged the cause.
      const waitMs = this.retries.schedule('index', () => this.request());
      this.logger.debug(
        { retry_in_ms: waitMs },
        'the vector index lags behind the catalogue; a retry is scheduled',
      );
    }
  }
  private followChanges(changed: ReadonlySet<number>): Promise<boolean> {
    const { toolsById } = this.catalogue.current;
    const items = [...changed].flatMap((id) => {
      const tool = toolsById.get(id);
      return tool ? [itemOf(tool)] : [];
    });
    const gone = [...changed].filter((id) => !toolsById.has(id));
    return this.vectors.follow(items, gone);
  }
}
