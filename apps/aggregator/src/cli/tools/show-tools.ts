import type { RestClient } from '../rest-client.js';
import type { CommandResult } from '../session.js';
import { fields, table } from '../table.js';
import { type ToolFilter, toolId, toolsLike } from './find-tool.js';

export async function listTools(
  rest: RestClient,
  filter: ToolFilter,
  limit: number,
): Promise<CommandResult> {
  const { first, items } = await toolsLike(rest, filter, limit);
  const rows = items.map((tool) => [tool.name, tool.skill_ids.join(','), tool.description]);
  const others =
    first.total > items.length
      ? `\n${items.length} of ${first.total} tools; --limit ${first.total} lists all.`
      : '';
  return {
    json: { ...first, tools: items },
    text: (screen) =>
      rows.length === 0 ? 'No tool fits.' : table(['TOOL', 'SKILLS', ''], rows, screen) + others,
  };
}

export async function showTool(rest: RestClient, name: string): Promise<CommandResult> {
  const id = await toolId(rest, name);
  const json = await rest.ask((api) => api.getTool({ path: { id } }));
  const { source_server: server } = json;
  const text = fields([
    ['name', json.name],
    ['title', json.title],
    ['description', json.description],
    ['server', server && `${server.name} (${server.status})`],
    ['skills', json.skill_ids.join(', ')],
    ['id', json.id],
    ['discovered', json.discovered_at],
    ['arguments', JSON.stringify(json.input_schema, null, 2)],
  ]);
  return { json, text };
}
