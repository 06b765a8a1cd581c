import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock, Env, RowWatches, Upkeep } from '@app/platform';
import { ToolUseStore, USES_MARK } from '../rows/tool-use.store.js';
import { LearntTools } from './learnt-tools.js';

const TRIM_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** A use this old counts an eighth. */
const KEPT_DAYS = 180;
/** Rows of 1.2 kB: 24 MB, and 2 kB in memory for a tool in a view: at most 41 MB. */
const MAX_ROWS = 20_000;
const MAX_ROWS_OF_CALLER = 5_000;

/** Loads what was learnt at start, compares it with the rows, and deletes what is old or too much. */
@Injectable()
export class KeepUsesJob implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger('learning');
  /** The writes and the day of the last comparison. */
  private seen = '';

  constructor(
    private readonly learnt: LearntTools,
    private readonly rows: ToolUseStore,
    private readonly watches: RowWatches,
    private readonly upkeep: Upkeep,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** Finds what other replicas learnt while their messages were lost; each day all uses count less. */
  onModuleInit(): void {
    const { DATABASE_URL, MCP_AGGREGATOR_SEARCH_LEARNING } = this.env;
    if (!MCP_AGGREGATOR_SEARCH_LEARNING) return;
    this.watches.add({
      // The only process of an embedded database has written all of it.
      mark: DATABASE_URL ? USES_MARK : "SELECT ''",
      look: (writes) => this.loadIfChanged(writes),
      failed: (error) => this.failed(error),
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    const { DATABASE_URL, MCP_AGGREGATOR_SEARCH_LEARNING } = this.env;
    if (!MCP_AGGREGATOR_SEARCH_LEARNING) return;
    // Before all is loaded: a process may not live until the next time.
    await this.trim();
    try {
      await this.loadIfChanged(DATABASE_URL ? await this.rows.writes() : '');
    } catch (error) {
      this.failed(error);
    }
  }

  @Interval(TRIM_EVERY_MS)
  async trim(): Promise<void> {
    const before = new Date(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    try {
      const deleted = await this.upkeep.run(() =>
        this.rows.trim(before, MAX_ROWS_OF_CALLER, MAX_ROWS),
      );
      if (deleted > 0) await this.learnt.load();
    } catch (error) {
      this.logger.warn({ err: error }, 'learning.uses_not_trimmed');
    }
  }

  private failed(error: unknown): void {
    this.logger.warn({ err: error }, 'learning.uses_not_loaded');
  }

  private async loadIfChanged(writes: string): Promise<void> {
    const now = `${writes} ${Math.floor(this.clock.now().getTime() / DAY_MS)}`;
    if (now === this.seen) return;
    await this.learnt.load();
    this.seen = now;
    if (this.learnt.size > MAX_ROWS) await this.trim();
  }
}
