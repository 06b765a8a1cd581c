import type { ViewRuleDto } from '@app/api-client';
import { usageError } from '../exit-codes.js';

export interface RuleOptions {
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly skill?: readonly string[] | undefined;
  readonly readOnly?: true | undefined;
}

/** The rules that options of a command stand for. */
export function rulesOf({
  include = [],
  exclude = [],
  skill = [],
  readOnly,
}: RuleOptions): ViewRuleDto[] {
  const annotation = readOnly ? ({ annotation: 'read_only' } as const) : {};
  const included: ViewRuleDto[] = [
    ...include.map((pattern) => ({ ...toolsLike(pattern), ...annotation })),
    ...skill.map((id) => ({ effect: 'include' as const, skill: id, ...annotation })),
  ];
  if (readOnly && included.length === 0) included.push({ effect: 'include', ...annotation });
  return [
    ...included,
    ...exclude.map((pattern): ViewRuleDto => ({ ...matching(pattern), effect: 'exclude' })),
  ];
}

/** A pattern with a name includes tools only: prompts and resources are not written as server.tool. */
function toolsLike(pattern: string): ViewRuleDto {
  const match = matching(pattern);
  return { effect: 'include', ...match, ...('name' in match && { kind: 'tool' as const }) };
}

function matching(pattern: string): Pick<ViewRuleDto, 'server' | 'name'> {
  const [server = ''] = pattern.split('.', 1);
  const name = pattern.slice(server.length + 1);
  const hasName = pattern.length > server.length;
  if (server === '' || (hasName && name === '')) {
    throw usageError(`${pattern} must read server, server.tool, or *`);
  }
  if (server !== '*' && server.includes('*')) {
    throw usageError(`${pattern} must name one server, or * for all of them`);
  }
  return { ...(server !== '*' && { server }), ...(hasName && name !== '*' && { name }) };
}
