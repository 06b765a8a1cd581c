// What a policy means, written without any code of the service.

export interface OracleRule {
  readonly effect: 'include' | 'exclude';
  readonly kind?: 'tool' | 'prompt' | 'resource' | 'any';
  readonly server?: string;
  readonly name?: string;
  readonly annotation?: 'read_only' | 'destructive' | 'idempotent' | 'open_world';
}
export type OracleLevel = 'read' | 'call_read_only' | 'call';
export interface OracleItem {
  readonly server: string;
  readonly kind: 'tool' | 'prompt' | 'resource';
  /** At its server; a URI or a template for a resource. */
  readonly name: string;
  readonly annotations?: Readonly<Record<string, boolean>>;
}

export const oracleServers = ['alpha', 'beta', 'gamma'] as const;
const hints: Readonly<Record<string, Readonly<Record<string, boolean>>>> = {
  find_items: { readOnlyHint: true },
  get_item: { readOnlyHint: true, openWorldHint: false },
  list_items: { readOnlyHint: true },
  create_item: { destructiveHint: false },
  update_item: { destructiveHint: false, idempotentHint: true },
  delete_item: { destructiveHint: true },
  purge: {},
};

/** All that `test/fixtures/items.mjs` offers, for each of the servers. */
export const oracleItems: readonly OracleItem[] = oracleServers.flatMap((server) => [
  ...Object.entries({ ...hints, [`${server}_only`]: { openWorldHint: false } }).map(
    ([name, annotations]): OracleItem => ({ server, kind: 'tool', name, annotations }),
  ),
  ...['greet', 'report_week', 'report_month'].map((name): OracleItem => ({
    server,
    kind: 'prompt',
    name,
  })),
  ...['readme', 'docs/a', 'docs/b', 'pages/{id}'].map((path): OracleItem => ({
    server,
    kind: 'resource',
    name: `${server}://${path}`,
  })),
]);

export function isOffered(
  rules: readonly OracleRule[],
  item: OracleItem,
  level: OracleLevel,
): boolean {
  if (level === 'call_read_only' && item.kind === 'tool' && !is(item, 'read_only')) return false;
  return has(rules, 'include', item) && !has(rules, 'exclude', item);
}

/** A URI that the template of its server expands to. */
export function isPageOffered(rules: readonly OracleRule[], server: string): boolean {
  const page: OracleItem = { server, kind: 'resource', name: `${server}://pages/7` };
  const template: OracleItem = { ...page, name: `${server}://pages/{id}` };
  if (has(rules, 'exclude', page)) return false;
  return has(rules, 'include', page) || isOffered(rules, template, 'call');
}

function has(rules: readonly OracleRule[], effect: string, item: OracleItem): boolean {
  return rules.some((rule) => rule.effect === effect && meets(rule, item));
}

function meets(rule: OracleRule, item: OracleItem): boolean {
  if (rule.kind !== undefined && rule.kind !== 'any' && rule.kind !== item.kind) return false;
  if (rule.server !== undefined && rule.server !== item.server) return false;
  if (rule.annotation !== undefined && (item.kind !== 'tool' || !is(item, rule.annotation)))
    return false;
  if (rule.name === undefined) return true;
  const pattern = rule.name.replace(/[.+?^${}()|[\]\\/]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${pattern}$`, 's').test(item.name);
}

function is({ annotations = {} }: OracleItem, annotation: OracleRule['annotation']): boolean {
  const readOnly = annotations['readOnlyHint'] ?? false;
  if (annotation === 'read_only') return readOnly;
  if (annotation === 'destructive') return !readOnly && (annotations['destructiveHint'] ?? true);
  if (annotation === 'idempotent') return readOnly || (annotations['idempotentHint'] ?? false);
  return annotations['openWorldHint'] ?? true;
}
