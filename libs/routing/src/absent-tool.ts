import { type CatalogueSnapshot, ToolNotFound, ToolWithheld } from '@app/catalogue';
import type { ReasonOfAbsence } from '@app/policy';
import { ServerNotFound } from '@app/registry';
import { resolveRoute } from './route.js';

/**
 * The error for a caller that may know why a tool is not offered to it; `error` itself if that has another cause.
 * `whole`: the catalogue without a policy.
 */
export function withReason(
  error: unknown,
  whole: CatalogueSnapshot,
  name: string,
  serverId: string | undefined,
  reasonOf: ReasonOfAbsence,
): unknown {
  if (!(error instanceof ToolNotFound || error instanceof ServerNotFound)) return error;
  try {
    return new ToolNotFound(name, reasonOf(resolveRoute(whole, name, serverId).tool));
  } catch (cause) {
    return cause instanceof ToolWithheld ? cause : error;
  }
}
