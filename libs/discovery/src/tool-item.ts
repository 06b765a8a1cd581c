import { isJsonObject, type JsonObject } from '@app/platform';
import { type ToolPayload, toolText, VectorItem } from '@app/vectors';
import type { CatalogueTool } from './catalogue-snapshot.js';

/** More tell nothing more about what a tool is for, and a schema may have thousands. */
const MAX_PARAMETERS = 50;
const MAX_DESCRIPTION = 200;

export function parameterNames(inputSchema: JsonObject): string[] {
  const properties = inputSchema['properties'];
  return isJsonObject(properties) ? Object.keys(properties).slice(0, MAX_PARAMETERS) : [];
}

/** What the parameters are said to be; words that a name alone leaves out. */
export function parameterDescriptions(inputSchema: JsonObject): string[] {
  const properties = inputSchema['properties'];
  if (!isJsonObject(properties)) return [];
  return Object.values(properties)
    .slice(0, MAX_PARAMETERS)
    .flatMap((property) => {
      const description = isJsonObject(property) ? property['description'] : undefined;
      return typeof description === 'string' ? [description.slice(0, MAX_DESCRIPTION)] : [];
    });
}

/** What embedding models read of a tool. */
export function textOfTool(tool: CatalogueTool): string {
  return toolText({
    server: tool.serverName,
    name: tool.originalName,
    description: tool.title ? `${tool.title}. ${tool.description}` : tool.description,
    parameters: parameterNames(tool.inputSchema),
    parameterDescriptions: parameterDescriptions(tool.inputSchema),
  });
}

/** Items are asked for with every change of the catalogue, and most tools are the same objects as before. */
const items = new WeakMap<CatalogueTool, VectorItem>();

export function itemOf(tool: CatalogueTool): VectorItem {
  const known = items.get(tool);
  if (known) return known;
  const payload: ToolPayload = {
    name: tool.name,
    original_name: tool.originalName,
    source_server_id: tool.serverId,
    source_server_name: tool.serverName,
    is_external: tool.isExternal,
    is_classified: tool.isClassified,
    skill_ids: tool.skillIds,
    primary_skill_id: tool.primarySkillId,
  };
  const item = new VectorItem(tool.id, () => textOfTool(tool), payload);
  items.set(tool, item);
  return item;
}
