import type { CatalogueTool } from '@app/catalogue';
import type { FieldIssue, JsonObject } from '@app/platform';
import { isDestructive } from '../choose/tool-schema.js';

/** How one server takes part in aggregated queries. */
export interface ServerQuerySettings {
  /** False: the server is not asked. */
  readonly enabled: boolean;
  /** The tool to ask, by its original name; null: the best one for each query. */
  readonly tool: string | null;
  /** The parameter of that tool that takes the query; null: found in its schema. */
  readonly argument: string | null;
  /** Further arguments of that tool. */
  readonly arguments: JsonObject;
  /** A passage of weight 2 counts twice one of weight 1. */
  readonly weight: number;
}

export const DEFAULT_SETTINGS: ServerQuerySettings = {
  enabled: true,
  tool: null,
  argument: null,
  arguments: {},
  weight: 1,
};

/** Problems of the settings; the tool is checked only if the tools of the server are known already. */
export function settingsIssues(
  { tool: name, argument, arguments: args }: ServerQuerySettings,
  tools: readonly CatalogueTool[],
): FieldIssue[] {
  const issue = (field: string, msg: string): FieldIssue[] => [
    { loc: ['body', field], msg, type: 'value_error' },
  ];
  if (name === null) {
    if (argument !== null) return issue('argument', 'Belongs to a tool; set that too');
    return Object.keys(args).length > 0 ? issue('arguments', 'Belong to a tool; set that too') : [];
  }
  if (tools.length === 0) return [];
  const tool = tools.find(({ originalName }) => originalName === name);
  if (!tool) return issue('tool', 'Is no tool of this server');
  return isDestructive(tool) ? issue('tool', 'Is annotated destructive and never asked') : [];
}
