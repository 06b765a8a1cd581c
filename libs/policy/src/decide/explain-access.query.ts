import { type IQueryHandler, Query, QueryBus, QueryHandler } from '@nestjs/cqrs';
import { ApprovalOfTool, Catalogue, type CatalogueTool, ToolNotFound } from '@app/catalogue';
import { Policy } from '../policy.js';
import { AccessExplainer, type Explanation } from './access-explainer.js';
import { ExplainedCallers } from './explained-caller.js';

export interface ToolExplanation extends Explanation {
  /** Of a withheld tool. */
  readonly approval_id: string | null;
}

/** Why a caller with these subjects (`token:ci`, `group:support`, `anyone`) sees a tool in a view, or does not. */
export class ExplainAccess extends Query<ToolExplanation> {
  constructor(
    readonly subjects: readonly string[],
    readonly view: string,
    /** Its id, or its name as `server.tool`. */
    readonly tool: number | string,
  ) {
    super();
  }
}

@QueryHandler(ExplainAccess)
export class ExplainAccessHandler implements IQueryHandler<ExplainAccess> {
  constructor(
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
    private readonly callers: ExplainedCallers,
    private readonly explainer: AccessExplainer,
    private readonly queries: QueryBus,
  ) {}

  async execute({ subjects, view, tool: wanted }: ExplainAccess): Promise<ToolExplanation> {
    const { current } = this.policy;
    const tool = this.toolOf(wanted);
    const caller = this.callers.of(subjects);
    const explanation = this.explainer.explain(caller, current.viewNamed(view), tool);
    const approval_id = tool.withheld
      ? await this.queries.execute(new ApprovalOfTool(tool.id))
      : null;
    return { ...explanation, approval_id };
  }

  private toolOf(wanted: number | string): CatalogueTool {
    const { current } = this.catalogue;
    const places = [current, current.withheld];
    const found = places.map(({ toolsById, toolsByName }) =>
      typeof wanted === 'number' ? toolsById.get(wanted) : toolsByName.get(wanted),
    );
    const tool = found.find((one) => one !== undefined);
    if (!tool?.isExternal) throw new ToolNotFound(String(wanted));
    return tool;
  }
}
