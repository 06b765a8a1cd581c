import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { type Actor, personOf } from '@app/access';
import { Clock, DatabaseUnavailable, Env, Replicas } from '@app/platform';
import { StaticModel } from '@app/vectors';
import { LearntTools } from '../recall/learnt-tools.js';
import { type CallerUses, ToolUseStore } from '../rows/tool-use.store.js';
import { type RecentSearch, RecentSearches } from './recent-searches.js';
import { UnknownUses } from './unknown-uses.js';
import { UseBuffer } from './use-buffer.js';

/** Topics of messages between replicas: uses after a search that another replica did; tools that are forgotten. */
export const SEARCH_USED = 'learning.search-used';
export const TOOLS_FORGOTTEN = 'learning.forgotten';

const STORE_EVERY_MS = 1_000;
/** Uses after searches that are not known here, in one message about them. */
const UNKNOWN_PER_MESSAGE = 50;
const SEARCH_ID = /^[\w-]{12}$/;

export interface FinishedSearch {
  readonly caller: Pick<Actor, 'name' | 'subject'>;
  readonly viewId: string;
  /** Of the query, by the static model. */
  readonly vector: Float32Array;
  /** Ids of the tools that it found. */
  readonly tools: readonly number[];
  /** The session of the client, if it has one. */
  readonly session: object | undefined;
}

export interface SuccessfulCall {
  readonly caller: Pick<Actor, 'name' | 'subject'>;
  readonly toolId: number;
  readonly session: object | undefined;
  /** As the caller gave it. */
  readonly searchId: string | undefined;
}

/**
 * Learns from use: a call that succeeded after a search that found its tool is credited to the query. Stored outside of
 * the path of calls, once a second; no text is kept.
 */
@Injectable()
export class Learning implements BeforeApplicationShutdown {
  private readonly logger = new Logger('learning');
  private readonly uses = new UseBuffer();
  private readonly unknown = new UnknownUses();
  /** Tools of which nothing that is being stored now is to be stored later. */
  private readonly forgotten = new Set<number>();
  /** Since the last uses that could be stored. */
  private isOutage = false;
  private timer: NodeJS.Timeout | undefined;
  private storing: Promise<void> | undefined;

  constructor(
    private readonly searches: RecentSearches,
    private readonly rows: ToolUseStore,
    private readonly learnt: LearntTools,
    private readonly model: StaticModel,
    private readonly replicas: Replicas,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  get isOn(): boolean {
    return this.env.MCP_AGGREGATOR_SEARCH_LEARNING;
  }

  /** The id by which a call can refer to the search; undefined if nothing is learnt. */
  noteSearch({ caller, viewId, vector, tools, session }: FinishedSearch): string | undefined {
    if (!this.isOn) return undefined;
    const search = { caller: hashOf(caller), viewId, vector, tools: new Set(tools) };
    return this.searches.add(search, session);
  }

  /** On the path of every call. */
  noteCall({ caller, toolId, session, searchId }: SuccessfulCall): void {
    if (!this.isOn) return;
    if (searchId !== undefined) {
      if (SEARCH_ID.test(searchId)) this.useById(searchId, hashOf(caller), toolId, true);
    } else if (session) {
      const search = this.searches.inSession(session, toolId);
      if (search) this.use(search, toolId);
    }
  }

  /** Another replica saw a call that refers to a search it does not know. */
  hearUse(message: string): void {
    const [searchId = '', toolId, caller = ''] = message.split(' ');
    if (this.isOn) this.useById(searchId, caller, Number(toolId), false);
  }

  /** What was noted of a tool and is not stored yet. */
  forgetTool(toolId: number): void {
    this.uses.forgetTool(toolId);
    this.forgotten.add(toolId);
  }

  /** Resolves when the uses that are being stored now are stored, or could not be. */
  settled(): Promise<void> {
    return this.storing ?? Promise.resolve();
  }

  /** Resolves when all that was noted before is stored, or could not be. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.storing;
    await this.store();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.flush();
  }

  private useById(searchId: string, caller: string, toolId: number, mayAsk: boolean): void {
    const search = this.searches.byId(searchId, caller);
    if (search) this.use(search, toolId);
    else if (mayAsk) {
      this.unknown.add(searchId, toolId, caller);
      this.storeSoon();
    }
  }

  /** Each tool once a search: repeated calls say nothing more about the query. */
  private use(search: RecentSearch, toolId: number): void {
    const { caller, viewId, vector, tools, used } = search;
    if (!tools.has(toolId) || used.has(toolId)) return;
    used.add(toolId);
    this.uses.add({ caller, viewId, vector, toolId });
    this.storeSoon();
  }

  private storeSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.storing ??= this.store().finally(() => {
        this.storing = undefined;
        if (!this.uses.isEmpty || !this.unknown.isEmpty) this.storeSoon();
      });
    }, STORE_EVERY_MS).unref();
  }

  private async store(): Promise<void> {
    const unknown = this.unknown.take();
    for (let start = 0; start < unknown.length; start += UNKNOWN_PER_MESSAGE) {
      await this.replicas.tell(SEARCH_USED, unknown.slice(start, start + UNKNOWN_PER_MESSAGE));
    }
    const all = this.uses.take();
    this.forgotten.clear();
    if (all.length === 0) return;
    try {
      await this.rows.add(this.model.id, all, this.clock.now());
    } catch (error) {
      if (isWorthRepeating(error)) this.repeatLater(all);
      this.report(error, all.length);
      return;
    }
    this.isOutage = false;
    await this.learnt.load(all).catch((error: unknown) => {
      // `KeepUsesJob` tries again.
      this.logger.warn({ err: error }, 'learning.uses_not_loaded');
    });
  }

  /** An outage of the database once: this is tried again each second. */
  private report(error: unknown, tools: number): void {
    const isOutage = error instanceof DatabaseUnavailable;
    if (!isOutage || !this.isOutage)
      this.logger.warn({ err: error, tools }, 'learning.uses_not_stored');
    this.isOutage = isOutage;
  }

  private repeatLater(all: readonly CallerUses[]): void {
    this.uses.putBack(all.filter(({ toolId }) => !this.forgotten.has(toolId)));
    this.storeSoon();
  }
}

/** True if the write certainly did not happen. */
function isWorthRepeating(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && error.context?.['outcome'] !== 'unknown';
}

/** Not its name: rows outlive a caller, and are part of a backup. */
function hashOf(caller: Pick<Actor, 'name' | 'subject'>): string {
  const { subject } = personOf(caller);
  return createHash('sha256').update(`learning ${subject}`).digest('hex').slice(0, 32);
}
