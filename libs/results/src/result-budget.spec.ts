import { Logger } from '@nestjs/common';
import { parseEnv, RawJsonObject } from '@app/platform';
import type { KeptResults } from './keep/kept-results.js';
import { Counter, Registry } from 'prom-client';
import { ResultBudget } from './result-budget.js';
import { ResultMetrics } from './result.metrics.js';

const call = { owner: 'ada', outputSchema: undefined, reader: 'mcp', takesLinks: true } as const;
const resultOf = (chars: number): RawJsonObject =>
  RawJsonObject.of({ content: [{ type: 'text', text: 'a sentence. '.repeat(chars / 12) }] });

const metrics = (): ResultMetrics =>
  new ResultMetrics(
    new Counter({
      name: 'shortened',
      help: '-',
      labelNames: ['whole'],
      registers: [new Registry()],
    }),
  );

function budgetOf(tokens: number): { budget: ResultBudget; kept: unknown[][] } {
  const kept: unknown[][] = [];
  const results: Pick<KeptResults, 'keep'> = {
    keep: async (...asked) => {
      kept.push(asked);
      return { isKept: false, reason: 'this is a test' };
    },
  };
  const env = parseEnv({ MCP_AGGREGATOR_RESULT_BUDGET_TOKENS: String(tokens) });
  return { budget: new ResultBudget(env, results as KeptResults, metrics()), kept };
}

describe(ResultBudget.name, () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('limits nothing by default', () => {
    const { budget } = budgetOf(0);
    const result = resultOf(1_000_000);
    expect(budget.isOn).toBe(false);
    expect(budget.within(result, call)).toBe(result);
  });

  it('passes on a result that fits, itself', () => {
    const { budget, kept } = budgetOf(1_000);
    const result = resultOf(3_000);
    expect(budget.within(result, call)).toBe(result);
    expect(kept).toEqual([]);
  });

  it('shortens a larger one, and keeps the whole for its caller', async () => {
    const { budget, kept } = budgetOf(1_000);
    const result = resultOf(30_000);
    expect((await budget.within(result, call)).bytes.length).toBeLessThan(4_000);
    expect(kept).toEqual([['ada', result.bytes, 1_000]]);
  });

  it('takes the budget of a tool before that of the deployment, also one without a limit', async () => {
    const { budget } = budgetOf(1_000);
    const result = resultOf(30_000);
    expect(budget.within(result, call, 0)).toBe(result);
    expect(budget.within(result, call, 10_000)).toBe(result);
    expect((await budget.within(result, call, 5_000)).bytes.length).toBeGreaterThan(10_000);
    expect((await budgetOf(0).budget.within(result, call, 2_000)).bytes.length).toBeLessThan(8_000);
  });

  it('answers with the whole result rather than not at all', async () => {
    const env = parseEnv({ MCP_AGGREGATOR_RESULT_BUDGET_TOKENS: '1000' });
    const broken = { keep: () => Promise.reject(new Error('a bug')) };
    const result = resultOf(30_000);
    const budget = new ResultBudget(env, broken as unknown as KeptResults, metrics());
    expect(await budget.within(result, call)).toBe(result);
  });
});
