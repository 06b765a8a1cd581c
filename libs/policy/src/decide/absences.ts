import { Injectable } from '@nestjs/common';
import type { Principal } from '@app/access';
import type { CatalogueTool } from '@app/catalogue';
import { Policy } from '../policy.js';
import { AccessExplainer } from './access-explainer.js';
import { mayKnow } from './permissions.js';

/** Says why a tool is absent. */
export type ReasonOfAbsence = (tool: CatalogueTool) => string;

/**
 * Why tools are absent, for callers that may know of all of them because they operate them. For all others an absent
 * tool is one that does not exist.
 */
@Injectable()
export class Absences {
  constructor(
    private readonly policy: Policy,
    private readonly explainer: AccessExplainer,
  ) {}

  /** Undefined for a caller that may not know. `slug`: the view at whose address it asks. */
  reasonFor(principal: Principal, slug: string): ReasonOfAbsence | undefined {
    if (!mayKnow(principal)) return undefined;
    return (tool) => {
      const view = this.policy.current.viewNamed(slug);
      const caller = { label: principal.name, principal, hasKnownScopes: true };
      const { message, offered_as } = this.explainer.explain(caller, view, tool);
      return offered_as === null
        ? message
        : `The view ${slug} offers ${tool.name} as ${offered_as}`;
    };
  }
}
