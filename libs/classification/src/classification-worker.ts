import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { EventBus } from '@nestjs/cqrs';
import { parameterNames } from '@app/discovery';
import { ToolsClassified } from '@app/events';
import { AppError, Clock } from '@app/platform';
import { ClassificationStore, type ClaimedTool } from './classification.store.js';
import { Classifier, type ToolToClassify } from './classifier.js';
import { keptAssignments } from './skill.js';
import { SkillStore } from './skill.store.js';

/** Whoever shows tools reads those of whole servers anew: not after every batch of ten. */
const ANNOUNCE_EVERY_MS = 1_000;

/** Works the queue of tools off in the background, as many batches at once as the classifier likes. */
@Injectable()
export class ClassificationWorker implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(ClassificationWorker.name);
  private readonly stop = new AbortController();
  private running: Promise<void> | undefined;
  private wanted = false;
  /** New or changed tools that somebody told of; all, when nobody said which. */
  private told: Set<number> | 'all' = new Set();
  private writesSeen: string | undefined;
  private settled: { readonly serverId: string | null; readonly toolId: number }[] = [];
  private announcedAt = 0;
  private announcement: Promise<void> | undefined;
  private problem: string | undefined;

  constructor(
    private readonly queue: ClassificationStore,
    private readonly skills: SkillStore,
    private readonly classifier: Classifier,
    private readonly events: EventBus,
    private readonly clock: Clock,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // Once a start, so that replicas with different models do not undo each other's work for ever.
    await this.queue.requeueLocal(this.classifier.name);
    void this.request();
  }

  async onModuleDestroy(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  /** These tools are new or have changed, or any. Resolves when nothing is due any more, or the classifier failed. */
  request(toolIds?: readonly number[]): Promise<void> {
    if (!toolIds) this.told = 'all';
    else if (this.told !== 'all') for (const id of toolIds) this.told.add(id);
    return this.lookAgain();
  }

  /** The same when nobody has said that there are new tools: they are looked for only if any were written. */
  lookAgain(): Promise<void> {
    this.wanted = true;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
      // Asked for between the last look and the end of the run.
      if (this.wanted && !this.stop.signal.aborted) void this.lookAgain();
    });
    return this.running;
  }

  private async run(): Promise<void> {
    while (this.wanted && !this.stop.signal.aborted) {
      this.wanted = false;
      const queued = this.enqueue();
      const lanes = Array.from({ length: this.classifier.concurrency }, () =>
        queued.then(() => this.lane()),
      );
      for (const lane of await Promise.allSettled(lanes)) {
        if (lane.status === 'fulfilled') continue;
        this.logger.error(
          { err: lane.reason as unknown },
          'classification stopped; it goes on later',
        );
      }
      this.announce();
    }
  }

  private async enqueue(): Promise<void> {
    const told = this.told;
    this.told = new Set();
    if (told !== 'all' && told.size > 0) return this.queue.enqueue([...told]);
    const seen = told === 'all' ? undefined : this.writesSeen;
    // Until it has come to its end, it has seen nothing.
    this.writesSeen = undefined;
    const writes = await this.queue.writes();
    if (writes !== seen) await this.queue.enqueue();
    this.writesSeen = writes;
  }

  private async lane(): Promise<void> {
    while (!this.stop.signal.aborted) {
      const tools = await this.queue.claim(this.classifier.batchSize);
      if (tools.length === 0 || !(await this.classify(tools))) return;
    }
  }

  /** Whether the classifier could be asked. */
  private async classify(tools: readonly ClaimedTool[]): Promise<boolean> {
    const skills = await this.skills.active();
    const verdicts = await this.ask(tools, skills);
    if (!verdicts) return false;
    const active = new Set(skills.map((skill) => skill.id));
    const byTool = new Map(verdicts.map((verdict) => [verdict.toolId, verdict]));
    const unanswered = tools.filter((tool) => !byTool.has(tool.id)).map((tool) => tool.id);
    if (unanswered.length > 0) await this.queue.postpone(unanswered, 'no verdict');
    const outcomes = tools.flatMap((tool) => {
      const verdict = byTool.get(tool.id);
      return verdict ? [{ tool, assignments: keptAssignments(verdict.assignments, active) }] : [];
    });
    const settled = await this.queue.settle(outcomes, this.classifier.name);
    for (const { toolId, suggestion } of verdicts) {
      if (suggestion) await this.queue.suggest(suggestion, toolId, this.classifier.name);
    }
    const servers = new Map(tools.map((tool) => [tool.id, tool.serverId]));
    for (const toolId of settled) {
      this.settled.push({ toolId, serverId: servers.get(toolId) ?? null });
    }
    this.announceSoon();
    return true;
  }

  /** Now, or together with what comes until the second is over. */
  private announceSoon(): void {
    const wait = this.announcedAt + ANNOUNCE_EVERY_MS - this.clock.now().getTime();
    if (wait <= 0) return this.announce();
    this.announcement ??= this.clock
      .sleep(wait, this.stop.signal)
      .then(() => this.announce())
      .catch(() => undefined) // stopped: the end of the run tells
      .finally(() => {
        this.announcement = undefined;
      });
  }

  private announce(): void {
    if (this.settled.length === 0) return;
    const servers = new Set(this.settled.flatMap(({ serverId }) => serverId ?? []));
    const tools = this.settled.map(({ toolId }) => toolId);
    this.settled = [];
    this.announcedAt = this.clock.now().getTime();
    this.events.publish(new ToolsClassified([...servers], tools));
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
      // Once, not with every batch; without the cause, whose text may repeat a key.
      if (this.problem !== reason) this.logger.warn(reason);
      this.problem = reason;
      await this.queue.postpone(
        tools.map((tool) => tool.id),
        reason,
      );
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
