import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Catalogue, type CatalogueTool, parameterNames } from '@app/discovery';
import { abortSignalOf, Env, type JsonObject } from '@app/platform';
import type { ToolCaller } from '@app/routing';
import { StaticModel, toolText } from '@app/vectors';
import { answerOf } from './aggregated-answer.js';
import type { AggregatedQuery } from './aggregated-query.js';
import { AllServersFailed } from './aggregation.errors.js';
import { digestOf } from './digest.js';
import { FanOut, type ServerOutcome } from './fan-out.js';
import { QueryPlanner } from './query-planner.js';
import { QuerySettingsStore } from './query-settings.store.js';
import { cosine } from './ranking.js';
import type { Question } from './query-tool.js';
import { isQueried, type Target, type Targets, targetsOf } from './targets.js';

export interface QueryProgress {
  /** Servers that have an outcome, of all that were asked. */
  readonly progress: number;
  readonly total: number;
  readonly message: string;
}

export interface QueryCaller extends Pick<ToolCaller, 'actor' | 'signal'> {
  readonly onProgress?: (progress: QueryProgress) => void;
}

/** Of the time of a query, so that with the defaults each server still has all of its own. */
const PLANNING_SHARE = 0.4;

/**
 * Puts one question to many servers and makes one short answer of theirs. Throws InvalidQuestion when it
 * names a server that is not there, AllServersFailed when no server has an answer.
 */
export class QueryServers extends Command<JsonObject> {
  constructor(
    readonly question: AggregatedQuery,
    readonly caller: QueryCaller,
  ) {
    super();
  }
}

@CommandHandler(QueryServers)
export class QueryServersHandler implements ICommandHandler<QueryServers> {
  /** Tools are the same objects as long as their server does not change them. */
  private readonly toolVectors = new WeakMap<CatalogueTool, Float32Array>();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly settings: QuerySettingsStore,
    private readonly planner: QueryPlanner,
    private readonly fanOut: FanOut,
    /** In this process, whatever is configured for tools: hundreds of passages wait for no network. */
    private readonly model: StaticModel,
    private readonly env: Env,
  ) {}

  async execute({ question, caller }: QueryServers): Promise<JsonObject> {
    const startedAt = performance.now();
    const signal = abortSignalOf(caller.signal);
    const { targets, rule, weightOf } = await this.targetsOf(question, signal);
    const outcomes = await this.fanOut.ask(targets, {
      caller: { actor: caller.actor, signal },
      withinMs: this.timeLeft(startedAt),
      onOutcome: countingProgress(targets.length, caller.onProgress),
    });
    if (!outcomes.some(({ status }) => status === 'succeeded')) {
      throw new AllServersFailed(
        targets.map(({ server }) => server.name),
        outcomes.map(({ target, error }) => `${target.server.name}: ${error ?? ''}`),
      );
    }
    const digest = digestOf(
      {
        query: question.query,
        passages: outcomes.flatMap(({ passages }) => passages),
        embed: (text) => this.model.embed(text),
        weights: new Map(targets.map((target) => [target.server.name, weightOf(target)])),
      },
      {
        maxResults: question.maxResults,
        maxTokens: this.env.MCP_AGGREGATOR_QUERY_MAX_TOKENS,
      },
    );
    return answerOf({
      digest,
      outcomes,
      processingTimeMs: performance.now() - startedAt,
      ...(question.explain && { explanation: rule ? { rule } : {} }),
    });
  }

  private async targetsOf(
    question: AggregatedQuery,
    signal: AbortSignal,
  ): Promise<Targets & { weightOf: (target: Target) => number }> {
    const [rules, settings] = await Promise.all([this.settings.rules(), this.settings.servers()]);
    const questionVector = this.model.embed(question.query);
    const asked: Question = {
      query: question.query,
      likeness: (tool) => cosine(questionVector, this.vectorOf(tool)),
      maxCalls: this.env.MCP_AGGREGATOR_QUERY_TOOLS_PER_SERVER,
    };
    const chosen = targetsOf(question, this.catalogue.current, rules, settings, asked);
    const withinMs = this.env.MCP_AGGREGATOR_QUERY_TIMEOUT * 1_000 * PLANNING_SHARE;
    const planned = await this.planner.plan(chosen.targets, asked, { signal, withinMs });
    return {
      ...chosen,
      targets: planned.filter(isQueried),
      weightOf: ({ server }) => settings.get(server.id)?.weight ?? 1,
    };
  }

  /** Each server has its own time, as long as the whole query has. */
  private timeLeft(startedAt: number): number {
    const left = this.env.MCP_AGGREGATOR_QUERY_TIMEOUT * 1_000 - (performance.now() - startedAt);
    return Math.max(0, Math.min(this.env.MCP_AGGREGATOR_QUERY_SERVER_TIMEOUT * 1_000, left));
  }

  private vectorOf(tool: CatalogueTool): Float32Array | undefined {
    const known = this.toolVectors.get(tool);
    if (known) return known;
    const vector = this.model.embed(
      toolText({
        server: tool.serverName,
        name: tool.originalName,
        description: tool.description,
        parameters: parameterNames(tool.inputSchema),
      }),
    );
    if (vector) this.toolVectors.set(tool, vector);
    return vector;
  }
}

function countingProgress(
  total: number,
  tell: QueryCaller['onProgress'],
): (outcome: ServerOutcome) => void {
  let progress = 0;
  return ({ target, error, passages }) => {
    progress += 1;
    const what = error ?? `${passages.length} ${passages.length === 1 ? 'result' : 'results'}`;
    tell?.({ progress, total, message: `${target.server.name}: ${what}` });
  };
}
