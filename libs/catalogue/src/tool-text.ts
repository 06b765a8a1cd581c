import { isJsonObject, type JsonObject } from '@app/platform';
import {
  MAX_TEXT_CHARS,
  type ToolPayload,
  toolText,
  type ToolWords,
  VectorItem,
} from '@app/vectors';
import type { CatalogueTool } from './catalogue-snapshot.js';

/** Further parameters add nothing to the meaning of a tool, and a schema may have thousands. */
const MAX_PARAMETERS = 50;
const MAX_DESCRIPTION = 200;

export function parameterNames(inputSchema: JsonObject): string[] {
  const properties = inputSchema['properties'];
  return isJsonObject(properties) ? Object.keys(properties).slice(0, MAX_PARAMETERS) : [];
}

/** Descriptions of parameters contain words that the names lack. */
function parameterDescriptions(inputSchema: JsonObject): string[] {
  const properties = inputSchema['properties'];
  if (!isJsonObject(properties)) return [];
  return Object.values(properties)
    .slice(0, MAX_PARAMETERS)
    .flatMap((property) => {
      const description = isJsonObject(property) ? property['description'] : undefined;
      return typeof description === 'string' ? [description.slice(0, MAX_DESCRIPTION)] : [];
    });
}

/** The text of a tool for search and models, truncated: a description may be thirty times as long. */
export function wordsOf(tool: CatalogueTool): Required<ToolWords> {
  const description = tool.title ? `${tool.title}. ${tool.description}` : tool.description;
  return {
    server: tool.serverName,
    name: tool.originalName,
    description: description.slice(0, MAX_TEXT_CHARS),
    parameters: parameterNames(tool.inputSchema),
    parameterDescriptions: parameterDescriptions(tool.inputSchema),
  };
}

/** The text of a tool for embedding models. */
export function textOfTool(tool: CatalogueTool): string {
  return toolText(wordsOf(tool));
}

/** Cache of items: they are needed at every change of the catalogue, and most tools keep their object identity. */
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
