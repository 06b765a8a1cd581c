import type { ViewRuleView, ViewView } from '@app/api-client';
import type { RestClient } from '../rest-client.js';
import type { Screen } from '../screen.js';
import type { CommandResult } from '../session.js';
import { fields, table } from '../table.js';

export function allViews(rest: RestClient) {
  return rest.list(
    (api, page) => api.listViews({ query: page }),
    ({ views }) => views,
  );
}

export async function listViews(rest: RestClient): Promise<CommandResult> {
  const { first, items } = await allViews(rest);
  const rows = items.map((view) => [view.slug, String(view.rules.length), view.title ?? '']);
  return {
    json: { ...first, views: items },
    text: (screen) => table(['VIEW', 'RULES', 'TITLE'], rows, screen),
  };
}

export async function showView(rest: RestClient, slug: string): Promise<CommandResult> {
  const json = await rest.ask((api) => api.getView({ path: { slug } }));
  return { json, text: (screen) => describedView(json, screen) };
}

export function describedView(view: ViewView, screen: Screen): string {
  const about = fields([
    ['view', view.slug],
    ['title', view.title],
    ['description', view.description],
    ['budget', view.budget_tokens === null ? null : `${view.budget_tokens} tokens`],
    ['address', `/mcp/views/${view.slug}`],
  ]);
  if (view.rules.length === 0) return `${about}\n\nIt has no rules, so it offers nothing.`;
  const rows = view.rules.map((rule, i) => [String(i + 1), rule.effect, ruleText(rule)]);
  return `${about}\n\n${table(['RULE', 'EFFECT', 'WHAT'], rows, screen)}`;
}

export function ruleText({ kind, server, name, skill, annotation }: ViewRuleView): string {
  const what = kind === undefined ? 'everything' : `${kind}s`;
  const conditions = [
    name !== undefined && `named ${name}`,
    server !== undefined && `of ${server}`,
    skill !== undefined && `with the skill ${skill}`,
    annotation !== undefined && `annotated ${annotation}`,
  ];
  return [what, ...conditions.filter((text) => text !== false)].join(' ');
}

export async function previewView(
  rest: RestClient,
  slug: string,
  as: string | undefined,
): Promise<CommandResult> {
  const { first, items } = await rest.list(
    (api, page) =>
      api.previewView({ path: { slug }, query: { ...page, ...(as !== undefined && { as }) } }),
    ({ tools }) => tools,
  );
  const rows = items.map((tool) => [
    tool.name,
    `${tool.server}.${tool.original_name}`,
    tool.rule ? ruleText(tool.rule) : '',
  ]);
  const none =
    as !== undefined && first.level === null
      ? `${as} has no grant on ${slug}.`
      : `${slug} offers no tools${as === undefined ? '' : ` to ${as}`}.`;
  return {
    json: { ...first, tools: items },
    text: (screen) =>
      rows.length === 0 ? none : table(['TOOL', 'FROM', 'BY THE RULE FOR'], rows, screen),
  };
}
