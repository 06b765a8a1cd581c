import { Injectable, Logger } from '@nestjs/common';
import { Env, hasMoreTokens, inSlices, type JsonValue, type RawJsonObject } from '@app/platform';
import { KeptResults } from './keep/kept-results.js';
import { ResultMetrics } from './result.metrics.js';
import { noticeBlocks } from './shorten/notice.js';
import { measureResult } from './shorten/shorten-result.js';

export interface BudgetedCall {
  /** The subject of the person who may read the whole result. */
  readonly owner: string;
  /** Of the tool, if it has one. */
  readonly outputSchema: JsonValue | undefined;
  readonly reader: 'mcp' | 'rest';
  readonly takesLinks: boolean;
}

/** Keeps the results of calls within a number of tokens. */
@Injectable()
export class ResultBudget {
  private readonly logger = new Logger('results');
  /** Of calls without a budget of their own; 0 is no limit. */
  private readonly defaultTokens: number;

  constructor(
    env: Env,
    private readonly kept: KeptResults,
    private readonly metrics: ResultMetrics,
  ) {
    this.defaultTokens = env.MCP_AGGREGATOR_RESULT_BUDGET_TOKENS;
  }

  /** Whether a call without a budget of its own may be answered with the link to a kept result. */
  get isOn(): boolean {
    return this.defaultTokens > 0;
  }

  /** The result itself if it fits; else its beginning and end, with a link to the whole. Never rejects. */
  within(
    result: RawJsonObject,
    call: BudgetedCall,
    budgetTokens = this.defaultTokens,
  ): RawJsonObject | Promise<RawJsonObject> {
    const fits = budgetTokens === 0 || !hasMoreTokens(result.bytes, budgetTokens);
    return fits ? result : this.shortened(result, call, budgetTokens);
  }

  private async shortened(
    result: RawJsonObject,
    { owner, outputSchema, reader, takesLinks }: BudgetedCall,
    budgetTokens: number,
  ): Promise<RawJsonObject> {
    try {
      const { shorten } = await inSlices(measureResult(result, budgetTokens));
      if (!shorten) return result;
      const { bytes } = result;
      const keeping = await this.kept.keep(owner, bytes, budgetTokens);
      this.metrics.shortened.inc({ whole: keeping.isKept ? 'kept' : 'not_kept' });
      const terms = { bytes: bytes.length, budgetTokens, keeping, reader, takesLinks };
      const notice = (leftOut: readonly string[]) => noticeBlocks(terms, leftOut);
      return await inSlices(shorten({ budgetTokens, outputSchema, notice }));
    } catch (error) {
      // The tool was executed: a defect of this service must not look like a failed call.
      this.logger.error({ err: error }, 'result.not_shortened');
      return result;
    }
  }
}
