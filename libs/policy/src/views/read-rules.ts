import type { CatalogueServer } from '@app/catalogue';
import { type FieldIssue, InvalidInput } from '@app/platform';
import type { ViewRule } from './view.js';
import type { GivenRule } from './view-document.js';

/** Rules with the ids of the servers that they name. Throws InvalidInput, which names the places. */
export function readRules(
  given: readonly GivenRule[],
  serversByName: ReadonlyMap<string, Pick<CatalogueServer, 'id'>>,
): readonly ViewRule[] {
  const issues: FieldIssue[] = [];
  const rules = given.map((rule, i): ViewRule => {
    const server = rule.server == null ? undefined : serversByName.get(rule.server);
    if (rule.server != null && !server) {
      const msg = `No server is named ${rule.server.slice(0, 100)}; register it first`;
      issues.push({ loc: ['body', 'rules', i, 'server'], msg, type: 'value_error' });
    }
    const isOfTools = rule.skill != null || rule.annotation != null;
    if (isOfTools && (rule.kind === 'prompt' || rule.kind === 'resource')) {
      const msg = 'Only tools have skills and annotations';
      issues.push({ loc: ['body', 'rules', i, 'kind'], msg, type: 'value_error' });
    }
    return {
      effect: rule.effect ?? 'include',
      kind: rule.kind ?? 'any',
      serverId: server?.id ?? null,
      namePattern: rule.name ?? null,
      skillId: rule.skill ?? null,
      annotation: rule.annotation ?? null,
    };
  });
  if (issues.length > 0) throw new InvalidInput(issues);
  return rules;
}
