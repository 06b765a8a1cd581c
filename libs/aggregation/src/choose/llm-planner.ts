import { Logger } from '@nestjs/common';
import type { CatalogueTool } from '@app/catalogue';
import { type Llm, LlmFailed, type LlmQuestion } from '@app/llm';
import { AppError, type Clock } from '@app/platform';
import { LookUpFailed } from '../aggregation.errors.js';
import {
  followUpQuestion,
  type OfferedTool,
  planQuestion,
  readFollowUp,
  readPlan,
} from './planner-prompts.js';
import type { PlannedCall, PlannedLookUp, QueryContext } from './tool-choice.js';
import type { QueryMetrics } from '../ask/query.metrics.js';
import type { Target } from './targets.js';
import { propertiesOf } from './tool-schema.js';
import { type ArgumentReader, argumentReader } from './tool-arguments.js';

export interface PlanningTime {
  /** Aborted when the caller disconnects or cancels. */
  readonly signal: AbortSignal;
  readonly withinMs: number;
}

interface ServerOffer {
  readonly target: Target;
  /** By similarity to the query, highest first. */
  readonly tools: readonly OfferedTool[];
}

/** A server costs one LLM request; servers beyond the limit keep the plain choice. */
const MAX_SERVERS = 10;
const MAX_TOOLS_PER_SERVER = 8;
/** After a failure the model is not asked for this long. */
const PAUSE_MS = 10_000;

/**
 * Lets a hosted language model choose tools and arguments. Each server has its own LLM request, so that a
 * prompt injection in its texts cannot affect the others. Only safe tools of that server are called, with
 * arguments that match their schemas. If the model fails, the plain choice (tool-choice.ts) is used.
 */
export class LlmPlanner {
  private readonly logger = new Logger(LlmPlanner.name);
  private readonly readers = new WeakMap<CatalogueTool, { read: ArgumentReader | undefined }>();
  private problem: { readonly error: LlmFailed; readonly until: number } | undefined;

  constructor(
    /** Undefined: the plain choice is always used. */
    private readonly llm: Llm | undefined,
    private readonly clock: Clock,
    private readonly metrics: QueryMetrics,
  ) {}

  /** The same targets, with the model's choices in place of the plain ones. */
  async plan(
    targets: readonly Target[],
    question: QueryContext,
    { signal, withinMs }: PlanningTime,
  ): Promise<readonly Target[]> {
    const { llm } = this;
    if (!llm) return targets;
    const similarity = ({ tools: [best] }: ServerOffer): number =>
      best ? question.similarity(best.tool) : 0;
    const offers = targets
      .map((target) => ({ target, tools: this.offeredBy(target) }))
      .filter(hasChoice)
      .toSorted((a, b) => similarity(b) - similarity(a));
    const time = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(withinMs))]);
    const planned = await Promise.all(
      offers.map(async (offer, i) => {
        const { target } = offer;
        const planner = `${llm.name} chooses for ${MAX_SERVERS} servers at most`;
        if (i >= MAX_SERVERS) return [target, { ...target, planner }] as const;
        return [target, await this.planFor(llm, offer, question, { signal, time })] as const;
      }),
    );
    const byTarget = new Map(planned);
    return targets.map((target) => byTarget.get(target) ?? target);
  }

  private offeredBy({ safe, problem }: Target): OfferedTool[] {
    const offered: OfferedTool[] = [];
    if (problem !== undefined) return offered;
    for (const tool of safe) {
      const read = this.readerOf(tool);
      if (read) offered.push({ tool, read });
      if (offered.length === MAX_TOOLS_PER_SERVER) break;
    }
    return offered;
  }

  private readerOf(tool: CatalogueTool): ArgumentReader | undefined {
    const known = this.readers.get(tool) ?? { read: argumentReader(tool) };
    this.readers.set(tool, known);
    return known.read;
  }

  private async planFor(
    llm: Llm,
    { target, tools }: ServerOffer,
    { query, maxCalls }: QueryContext,
    { signal, time }: { readonly signal: AbortSignal; readonly time: AbortSignal },
  ): Promise<Target> {
    const why = `chosen by ${llm.name}`;
    try {
      const answer = await this.ask(llm, planQuestion(query, target.server, tools, maxCalls), {
        signal,
        time,
      });
      const choice = readPlan(answer, tools, { maxCalls, why });
      if (!choice) throw new LlmFailed(llm.name, 'it chose nothing that can be asked');
      this.metrics.plans.inc({ outcome: 'chosen' });
      const { lookUp } = choice;
      // Keeps the plain calls: they are the fallback when the look-up fails.
      const plan = lookUp
        ? { lookUp: this.lookUp(llm, query, lookUp, signal) }
        : { calls: choice.calls.map((call) => withWordRetries(target, call)) };
      return { ...target, ...plan, planner: why };
    } catch (error) {
      this.metrics.plans.inc({ outcome: 'failed' });
      if (error instanceof AppError) return { ...target, planner: error.message };
      this.logger.error({ server: target.server.name, err: error }, 'query.plan_failed');
      return { ...target, planner: 'planning failed' };
    }
  }

  private lookUp(
    llm: Llm,
    query: string,
    { call, next }: { readonly call: PlannedCall; readonly next: OfferedTool },
    signal: AbortSignal,
  ): PlannedLookUp {
    const followUp: PlannedLookUp['followUp'] = async (answer, time) => {
      const question = followUpQuestion(query, call.tool, answer, next);
      const found = readFollowUp(await this.ask(llm, question, { signal, time }), next, call.why);
      if (found) return found;
      throw new LookUpFailed(`it found nothing to ask ${next.tool.originalName} with`);
    };
    return { call: { ...call, why: `${call.why} to look something up` }, followUp };
  }

  private async ask(
    llm: Llm,
    question: LlmQuestion,
    { signal, time }: { readonly signal: AbortSignal; readonly time: AbortSignal },
  ): Promise<unknown> {
    if (this.problem && this.clock.monotonic() < this.problem.until) throw this.problem.error;
    try {
      const answer = await llm.ask(question, time);
      this.problem = undefined;
      return answer;
    } catch (error) {
      // An abort by the caller is no failure of the model.
      if (error instanceof LlmFailed && !signal.aborted) this.pause(error);
      throw error;
    }
  }

  private pause(error: LlmFailed): void {
    // Logged once per problem; without the cause, whose text may contain an API key.
    if (this.problem?.error.message !== error.message)
      this.logger.warn({ reason: error.message }, 'query.planner_paused');
    this.problem = { error, until: this.clock.monotonic() + PAUSE_MS };
  }
}

/** False if the only tool takes nothing but the query, as the plain choice already has it. */
function hasChoice({ target, tools: [first, ...others] }: ServerOffer): boolean {
  if (!first) return false;
  const plain = target.calls[0]?.tool === first.tool;
  return others.length > 0 || !plain || Object.keys(propertiesOf(first.tool)).length > 1;
}

/** Keeps the single-word retries of the plain call to the same tool. */
function withWordRetries({ calls }: Target, call: PlannedCall): PlannedCall {
  const plain = calls.find(({ tool }) => tool === call.tool);
  return plain ? { ...call, byWord: plain.byWord } : call;
}
