import { Injectable } from '@nestjs/common';
import { hasScope } from '@app/access';
import { Catalogue, type CatalogueTool, ToolWithheld } from '@app/catalogue';
import type { JsonObject } from '@app/platform';
import { isServing } from '@app/registry';
import type { GrantLevel } from '../grants/grant.js';
import { Policy } from '../policy.js';
import { ruleDocument } from '../views/view-document.js';
import type { View } from '../views/view.js';
import type { Access } from './access.js';
import type { ExplainedCaller } from './explained-caller.js';
import { Permissions } from './permissions.js';

export const deciders = [
  'quarantine',
  'rule',
  'no rule',
  'no grant',
  'level',
  'scope',
  'server',
  'grant',
] as const;

export interface Explanation {
  readonly is_listed: boolean;
  readonly is_callable: boolean;
  /** What decided. */
  readonly decided_by: (typeof deciders)[number];
  readonly message: string;
  /** The rule that decided, or that includes the tool. */
  readonly rule: JsonObject | null;
  readonly grant_id: string | null;
  readonly level: GrantLevel | null;
  /** The name under which it is offered. */
  readonly offered_as: string | null;
}

type Found = Pick<Explanation, 'rule' | 'grant_id' | 'level'>;

/** Why a caller sees a tool in a view, or does not. */
@Injectable()
export class AccessExplainer {
  constructor(
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
    private readonly permissions: Permissions,
  ) {}

  /** In the order in which a request is decided; each step can only narrow. */
  explain(caller: ExplainedCaller, view: View, tool: CatalogueTool): Explanation {
    const { label, principal } = caller;
    const access = this.permissions.find(principal, view.slug);
    const rule = this.policy.current.offerOf(view.id, false)?.ruleFor(tool);
    const found: Found = {
      rule: rule ? ruleDocument(rule, this.catalogue.current.servers) : null,
      grant_id: access?.reason.kind === 'grant' ? access.reason.grant.id : null,
      level: access?.level ?? null,
    };
    const hidden = (decided_by: Explanation['decided_by'], message: string): Explanation => ({
      ...found,
      is_listed: false,
      is_callable: false,
      offered_as: null,
      decided_by,
      message,
    });
    if (tool.withheld) return hidden('quarantine', new ToolWithheld(tool).message);
    if (!rule) return hidden('no rule', `No rule of the view ${view.slug} includes ${tool.name}`);
    if (rule.effect === 'exclude') {
      return hidden('rule', `A rule of the view ${view.slug} excludes ${tool.name}`);
    }
    if (access && access.view.id !== view.id) {
      const message = `${label} was issued for the view ${access.view.slug}, which it sees at every address`;
      return hidden('no grant', message);
    }
    if (!access) {
      const message = principal.pinned
        ? `${label} was issued for a view that was deleted, and sees nothing`
        : `${label} has no grant on the view ${view.slug}, or it has expired or is for another identity provider`;
      return hidden('no grant', message);
    }
    const offered = access.offer.catalogue(this.catalogue.current).toolsById.get(tool.id);
    return offered
      ? this.explainOffered(caller, access, offered, found)
      : hidden(
          'level',
          `The level ${access.level} offers only tools that are annotated read-only, and ${tool.name} is not`,
        );
  }

  private explainOffered(
    { label, principal, hasKnownScopes }: ExplainedCaller,
    { level, reason }: Access,
    tool: CatalogueTool,
    found: Found,
  ): Explanation {
    const shown = { ...found, is_listed: true, offered_as: tool.name };
    const listed = (decided_by: Explanation['decided_by'], message: string): Explanation => ({
      ...shown,
      is_callable: false,
      decided_by,
      message,
    });
    if (!hasScope(principal, 'read')) {
      return { ...listed('scope', `The token of ${label} has no scope`), is_listed: false };
    }
    if (level === 'read') {
      return listed('level', `${label} may list ${tool.name}; the level read calls nothing`);
    }
    if (!hasScope(principal, 'call')) {
      return listed('scope', `${label} may list ${tool.name}; calling it needs the scope call`);
    }
    const server = this.catalogue.current.servers.get(tool.serverId);
    if (!server || !isServing(server.status)) {
      const problem = server?.errorMessage ? `: ${server.errorMessage}` : '';
      const status = server?.status ?? 'gone';
      const message = `${tool.name} is offered to ${label}, but its server is ${status}${problem}`;
      return listed('server', message);
    }
    if (reason.kind === 'admin') {
      const message = `${label} may call ${tool.name}, because its scope admin uses every view`;
      return { ...shown, is_callable: true, decided_by: 'scope', message };
    }
    const condition = hasKnownScopes ? '' : ', if its token has the scope call';
    const message = `${label} may call ${tool.name}${condition}`;
    return { ...shown, is_callable: true, decided_by: 'grant', message };
  }
}
