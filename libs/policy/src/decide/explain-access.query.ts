import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { Tokens } from '@app/access';
import { Catalogue, type CatalogueTool, ToolNotFound } from '@app/catalogue';
import { Clock, type JsonObject } from '@app/platform';
import { isServing } from '@app/registry';
import { ANYONE, type GrantLevel } from '../grants/grant.js';
import { Policy } from '../policy.js';
import type { Offer } from '../views/offer.js';
import { hasAnnotation } from '../views/tool-annotations.js';
import { ruleDocument } from '../views/view-document.js';
import type { View } from '../views/view.js';
import { Permissions } from './permissions.js';

/** Prefix of a subject. */
const TOKEN = 'token:';

export interface Explanation {
  readonly is_listed: boolean;
  readonly is_callable: boolean;
  /** What decided. */
  readonly decided_by: 'server' | 'rule' | 'no rule' | 'no grant' | 'level' | 'grant';
  readonly message: string;
  /** The rule that decided, or that includes the tool. */
  readonly rule: JsonObject | null;
  readonly grant_id: string | null;
  readonly level: GrantLevel | null;
  /** The name under which it is offered. */
  readonly offered_as: string | null;
}

/** Why a subject (`token:ci`, `group:support`, `anyone`) sees a tool in a view, or does not. */
export class ExplainAccess extends Query<Explanation> {
  constructor(
    readonly subject: string,
    readonly view: string,
    readonly toolId: number,
  ) {
    super();
  }
}

@QueryHandler(ExplainAccess)
export class ExplainAccessHandler implements IQueryHandler<ExplainAccess> {
  constructor(
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
    private readonly tokens: Tokens,
    private readonly clock: Clock,
  ) {}

  async execute({ subject, view: slug, toolId }: ExplainAccess): Promise<Explanation> {
    const view = this.policy.current.viewNamed(slug);
    const tool = this.catalogue.current.toolsById.get(toolId);
    if (!tool?.isExternal) throw new ToolNotFound(String(toolId));
    return this.explain(subject, view, tool);
  }

  /** In the order in which a request is decided; each step can only narrow. */
  private explain(subject: string, view: View, tool: CatalogueTool): Explanation {
    const permissions = new Permissions(this.policy, this.clock);
    const subjects = subject === ANYONE ? [] : [subject];
    const pinned = subject.startsWith(TOKEN)
      ? this.tokens.pinnedViewOf(subject.slice(TOKEN.length))
      : undefined;
    const principal = { name: subject, scopes: ['call'] as const, subjects, pinned };
    const access = permissions.find(principal, view.slug);
    const whole = this.policy.current.offerOf(view.id, false);
    const rule = whole?.ruleFor(tool);
    const found = {
      rule: rule ? ruleDocument(rule, this.catalogue.current.servers) : null,
      grant_id: access?.reason.kind === 'grant' ? access.reason.grant.id : null,
      level: access?.level ?? null,
      offered_as: null,
    };
    const hidden = { ...found, is_listed: false, is_callable: false };
    if (!rule) {
      const message = `No rule of the view ${view.slug} includes ${tool.name}`;
      return { ...hidden, decided_by: 'no rule', message };
    }
    if (rule.effect === 'exclude') {
      const message = `A rule of the view ${view.slug} excludes ${tool.name}`;
      return { ...hidden, decided_by: 'rule', message };
    }
    if (access && access.view.id !== view.id) {
      const message = `${subject} was issued for the view ${access.view.slug}, which it sees at every address`;
      return { ...hidden, decided_by: 'no grant', message };
    }
    if (!access) {
      const message = `${subject} has no grant on the view ${view.slug}, or it has expired`;
      return { ...hidden, decided_by: 'no grant', message };
    }
    return this.explainOffered(access.offer, access.level, tool, { ...found, subject });
  }

  private explainOffered(
    offer: Offer,
    level: GrantLevel,
    tool: CatalogueTool,
    { subject, ...found }: Pick<Explanation, 'rule' | 'grant_id' | 'level'> & { subject: string },
  ): Explanation {
    const { toolsById, servers } = offer.catalogue(this.catalogue.current);
    const offered = toolsById.get(tool.id);
    if (!offered) {
      const message = hasAnnotation(tool, 'read_only')
        ? `${tool.name} is not offered to ${subject}`
        : `The level ${level} offers only tools that are annotated read-only, and ${tool.name} is not`;
      const hidden = { is_listed: false, is_callable: false, offered_as: null };
      return { ...found, ...hidden, decided_by: 'level', message };
    }
    const shown = { ...found, is_listed: true, offered_as: offered.name };
    if (level === 'read') {
      const message = `${subject} may list ${offered.name}; the level read calls nothing`;
      return { ...shown, is_callable: false, decided_by: 'level', message };
    }
    const server = servers.get(tool.serverId);
    if (!server || !isServing(server.status)) {
      const message = `${offered.name} is offered to ${subject}, but its server is ${server?.status ?? 'gone'}${server?.errorMessage ? `: ${server.errorMessage}` : ''}`;
      return { ...shown, is_callable: false, decided_by: 'server', message };
    }
    const message = `${subject} may call ${offered.name}, if its token has the scope call`;
    return { ...shown, is_callable: true, decided_by: 'grant', message };
  }
}
