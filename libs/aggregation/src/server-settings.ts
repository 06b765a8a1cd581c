import type { CatalogueTool } from '@app/discovery';
import type { FieldIssue, JsonObject } from '@app/platform';
import { isDestructive } from './tool-definition.js';

/** How one server takes part in aggregated queries. */
export interface ServerSettings {
  /** False: never asked. */
  readonly enabled: boolean;
  /** The tool to ask, by its original name; null: the one that fits each question best. */
  readonly tool: string | null;
  /** The parameter of that tool which takes the question; null: found in its schema. */
  readonly argument: string | null;
  /** What that tool is given besides. */
  readonly arguments: JsonObject;
  /** A passage of weight 2 counts twice one of weight 1. */
  readonly weight: number;
}

export const DEFAULT_SETTINGS: ServerSettings = {
  enabled: true,
  tool: null,
  argument: null,
  arguments: {},
  weight: 1,
};

/** What is wrong with settings, as far as the tools of the server are known: it may not have been connected yet. */
export function settingsIssues(
  { tool: name, argument, arguments: args }: ServerSettings,
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
