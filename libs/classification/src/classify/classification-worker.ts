import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { parameterNames } from '@app/catalogue';
import { ToolsClassified } from '@app/events';
import { AppError, Clock, CoalescedRuns, Signals } from '@app/platform';
import {
  type ClaimedTool,
  ClassificationQueue,
  type QueueLook,
} from './classification-queue.store.js';
import { Classifier, type ToolToClassify } from './classifier.js';
import { keptAssignments, unsureAssignments } from '../skills/skill.js';
import { SkillStore } from '../skills/skill.store.js';
import { SuggestionStore } from '../skills/suggestion.store.js';

/** The code of a failure in logs and rows (contract R48). */
const FAILED = 'CLASSIFICATION_FAILED';
/** Throttle: listeners reload the tools of whole servers, so an event per batch of ten would be too many. */
const ANNOUNCE_EVERY_MS = 1_000;

/** Processes the classification queue in the background, with the concurrency of the classifier. */
@Injectable()
export class ClassificationWorker implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(ClassificationWorker.name);
  private readonly stop = new AbortController();
  private readonly runs = new CoalescedRuns();
  /** Ids of new or changed tools to enqueue, or all of them. */
  private told: Set<number> | 'all' = new Set();
  private writesSeen: string | undefined;
  /** At the last look. */
  private writesLooked: string | undefined;
  private settled: { readonly serverId: string | null; readonly toolId: number }[] = [];
  private announcedAt = Number.NEGATIVE_INFINITY;
  private announcement: Promise<void> | undefined;
  private problem: string | undefined;

  constructor(
    private readonly queue: ClassificationQueue,
    private readonly skills: SkillStore,
    private readonly suggestions: SuggestionStore,
    private readonly classifier: Classifier,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // Only at startup, so that replicas with different models do not undo each other's work endlessly.
    await this.queue.requeueLocal(this.classifier.name);
    void this.request();
  }

  async onModuleDestroy(): Promise<void> {
    this.stop.abort();
    // Waits for the run in progress; one after it does nothing.
    await this.lookAgain();
  }

  /**
   * Enqueues these tools, or all that are new or changed. Resolves when the queue is empty or the classifier has
   * failed.
   */
  request(toolIds?: readonly number[]): Promise<void> {
    if (!toolIds) this.told = 'all';
    else if (this.told !== 'all') for (const id of toolIds) this.told.add(id);
    return this.lookAgain();
  }

  /** For callers without ids: scans for new tools only if the table was written since the last scan. */
  lookAgain(): Promise<void> {
    return this.runs.run('queue', () => this.run());
  }

  /**
   * Whether tools are due, or were written since the last scan and not since the last look: while servers are read,
   * their tools are told of, and a scan of all of them at every look would slow that down.
   */
  mayHaveWork({ writes, hasDue }: QueueLook): boolean {
    const isQuiet = writes === (this.writesLooked ?? writes);
    this.writesLooked = writes;
    return hasDue || (isQuiet && writes !== this.writesSeen);
  }

  private async run(): Promise<void> {
    if (this.stop.signal.aborted) return;
    const queued = this.enqueue();
    const lanes = Array.from({ length: this.classifier.concurrency }, () =>
      queued.then(() => this.lane()),
    );
    for (const lane of await Promise.allSettled(lanes)) {
      if (lane.status === 'fulfilled') continue;
      this.logger.error({ err: lane.reason as unknown }, 'classification.interrupted');
    }
    this.announce();
  }

  private async enqueue(): Promise<void> {
    const told = this.told;
    this.told = new Set();
    if (told !== 'all' && told.size > 0) return this.enqueueTold([...told]);
    const seen = told === 'all' ? undefined : this.writesSeen;
    // Reset the marker first, so that a failed enqueue is retried.
    this.writesSeen = undefined;
    const writes = await this.queue.writes();
    if (writes !== seen) await this.queue.enqueue();
    this.writesSeen = writes;
  }

  private async enqueueTold(toolIds: readonly number[]): Promise<void> {
    const { batchSize, isLocal } = this.classifier;
    // A model in this process takes them at once; what a stop leaves out is found by the next start.
    for (let start = 0; isLocal && start < toolIds.length; start += batchSize) {
      if (this.stop.signal.aborted) return;
      const tools = await this.queue.enqueueClaimed(toolIds.slice(start, start + batchSize));
      if (tools.length > 0) await this.classify(tools);
    }
    if (!isLocal) await this.queue.enqueue(toolIds);
  }

  private async lane(): Promise<void> {
    while (!this.stop.signal.aborted) {
      const tools = await this.queue.claim(this.classifier.batchSize);
      if (tools.length === 0 || !(await this.classify(tools))) return;
    }
  }

  /** False if the classifier failed. */
  private async classify(tools: readonly ClaimedTool[]): Promise<boolean> {
    const skills = await this.skills.active();
    const verdicts = await this.ask(tools, skills);
    if (!verdicts) return false;
    const active = new Set(skills.map((skill) => skill.id));
    const byTool = new Map(verdicts.map((verdict) => [verdict.toolId, verdict]));
    const unanswered = tools.filter((tool) => !byTool.has(tool.id));
    if (unanswered.length > 0) await this.postpone(unanswered, 'no verdict');
    const outcomes = tools.flatMap((tool) => {
      const verdict = byTool.get(tool.id);
      if (!verdict) return [];
      const assignments = keptAssignments(verdict.assignments, active);
      return [{ tool, assignments, unsure: unsureAssignments(verdict.assignments, active) }];
    });
    const settled = await this.queue.settle(outcomes, this.classifier.name);
    const servers = new Map(tools.map((tool) => [tool.id, tool.serverId]));
    const suggested = verdicts.flatMap(({ toolId, suggestion }) =>
      suggestion ? [{ ...suggestion, toolId, serverId: servers.get(toolId) ?? null }] : [],
    );
    if (suggested.length > 0) await this.suggestions.add(suggested, this.classifier.name);
    for (const toolId of settled) {
      this.settled.push({ toolId, serverId: servers.get(toolId) ?? null });
    }
    this.announceSoon();
    return true;
  }

  /** Publishes now, or at the end of the current second together with later results. */
  private announceSoon(): void {
    const wait = this.announcedAt + ANNOUNCE_EVERY_MS - this.clock.monotonic();
    if (wait <= 0) return this.announce();
    this.announcement ??= this.clock
      .sleep(wait, this.stop.signal)
      .then(() => this.announce())
      .catch(() => undefined) // stopped: the end of the run publishes
      .finally(() => {
        this.announcement = undefined;
      });
  }

  private announce(): void {
    this.settled.push(...this.queue.takeKept());
    if (this.settled.length === 0) return;
    const servers = new Set(this.settled.flatMap(({ serverId }) => serverId ?? []));
    const tools = this.settled.map(({ toolId }) => toolId);
    this.settled = [];
    this.announcedAt = this.clock.monotonic();
    void this.signals.tell(new ToolsClassified([...servers], tools));
  }

  private postpone(tools: readonly ClaimedTool[], reason: string): Promise<void> {
    return this.queue.postpone(tools, `${FAILED}: ${reason}`);
  }

  private async ask(
    tools: readonly ClaimedTool[],
    skills: Parameters<Classifier['classify']>[1],
  ): Promise<Awaited<ReturnType<Classifier['classify']>> | undefined> {
    try {
      const questions = tools.map(toQuestion);
      const verdicts = await this.classifier.classify(questions, skills, this.stop.signal);
      if (this.problem) await this.queue.retryFailed();
      this.problem = undefined;
      return verdicts;
    } catch (error) {
      if (this.stop.signal.aborted) return undefined;
      const reason = error instanceof AppError ? error.message : 'the classifier failed';
      // Log a problem once, not per batch; without the cause, whose text may contain an API key.
      if (this.problem !== reason)
        this.logger.warn({ code: FAILED, reason }, 'classification.failed');
      this.problem = reason;
      await this.postpone(tools, reason);
      return undefined;
    }
  }
}

function toQuestion(tool: ClaimedTool): ToolToClassify {
  return {
    id: tool.id,
    name: tool.originalName,
    description: tool.description,
    parameters: parameterNames(tool.inputSchema),
    server: {
      id: tool.serverId ?? '',
      name: tool.serverName ?? '',
      description: tool.serverDescription,
    },
  };
}
