import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Catalogue, ToolNotFound } from '@app/catalogue';
import { Clock, Database, Env, Replicas, within } from '@app/platform';
import { Learning, TOOLS_FORGOTTEN } from '../credit/learning.js';
import { LearntTools } from '../recall/learnt-tools.js';
import { ToolUseStore } from '../rows/tool-use.store.js';

/** Forgets what searches learnt from the use of a tool, in every view. */
export class ResetLearning extends Command<void> {
  constructor(
    readonly toolId: number,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ResetLearning)
export class ResetLearningHandler implements ICommandHandler<ResetLearning> {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly database: Database,
    private readonly rows: ToolUseStore,
    private readonly learning: Learning,
    private readonly learnt: LearntTools,
    private readonly audit: AuditStore,
    private readonly replicas: Replicas,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute({ toolId, actor }: ResetLearning): Promise<void> {
    const { current } = this.catalogue;
    const tool = current.toolsById.get(toolId) ?? current.withheld.toolsById.get(toolId);
    if (!tool) throw new ToolNotFound(String(toolId));
    const { serverId, serverName, name } = tool;
    // What was noted before this request is forgotten too, here and at other replicas.
    this.learning.forgetTool(toolId);
    // Without a database the transaction says so, as fast as a request may.
    await within(
      this.clock,
      this.env.MCP_AGGREGATOR_DATABASE_WAIT * 1_000,
      this.learning.settled(),
    );
    const forgotten = await this.database.transaction(async (tx) => {
      const tools = await this.rows.forgetTool(toolId, tx);
      await this.replicas.tellIn(tx, TOOLS_FORGOTTEN, [String(toolId)]);
      await this.audit.record(
        {
          event: 'tool.learning_reset',
          actor,
          details: { tool: name, views: tools.length },
          ...(tool.isExternal && { server: { id: serverId, name: serverName } }),
        },
        tx,
      );
      return tools;
    });
    if (forgotten.length > 0) await this.learnt.load(forgotten);
  }
}
