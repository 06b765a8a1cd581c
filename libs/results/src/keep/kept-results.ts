import { Injectable, Logger } from '@nestjs/common';
import {
  AppError,
  Clock,
  DatabaseUnavailable,
  Env,
  inSlices,
  isForeignKeyViolation,
} from '@app/platform';
import { randomUUID } from 'node:crypto';
import { KeptResultStore } from './kept-result.store.js';
import { pagesOf, pageTokens } from './result-pages.js';
import { countedBytes } from './room.js';

/** A client waits for its answer meanwhile. */
const KEEP_WITHIN_MS = 10_000;
/** Of all bytes, what one principal may have (contract R52). */
const OWNER_SHARE = 0.125;

export type Keeping =
  | { readonly isKept: true; readonly id: string; readonly pages: number; readonly until: Date }
  | { readonly isKept: false; readonly reason: string };

/** Keeps the whole results of shortened answers, as rows that every replica can read. */
@Injectable()
export class KeptResults {
  private readonly logger = new Logger('results');

  constructor(
    private readonly store: KeptResultStore,
    private readonly clock: Clock,
    private readonly env: Env,
  ) {}

  /** Never rejects: the call was executed, so its answer has to reach the client. */
  async keep(owner: string, result: Buffer, budgetTokens: number): Promise<Keeping> {
    const id = randomUUID();
    try {
      const pages = await inSlices(pagesOf(result, pageTokens(budgetTokens)));
      const keptAt = this.clock.now();
      const until = new Date(keptAt.getTime() + this.env.MCP_AGGREGATOR_RESULT_TTL * 1_000);
      const bytes = countedBytes(result.length);
      const kept = { id, owner, bytes, pages: pages.length, keptAt, expiresAt: until };
      const total = this.env.MCP_AGGREGATOR_KEPT_RESULT_BYTES;
      const limits = { total, perOwner: total * OWNER_SHARE };
      if (!(await this.store.admit(kept, limits))) return notKept('there is no room for it');
      const deadline = this.clock.monotonic() + KEEP_WITHIN_MS;
      const isInTime = (): boolean => this.clock.monotonic() < deadline;
      // What was written expires unread: no caller knows the id.
      if (!(await this.store.addPages(id, pages, isInTime)))
        return notKept('storing it takes too long');
      return { isKept: true, id, pages: pages.length, until };
    } catch (error) {
      if (isForeignKeyViolation(error)) return notKept('newer results have taken its place');
      if (error instanceof DatabaseUnavailable) {
        this.logger.warn({ err: error }, 'result.not_kept');
        return notKept('the database of this service does not answer');
      }
      const level = error instanceof AppError ? 'warn' : 'error';
      this.logger[level]({ err: error }, 'result.not_kept');
      return notKept('storing it failed');
    }
  }
}

function notKept(reason: string): Keeping {
  return { isKept: false, reason };
}
