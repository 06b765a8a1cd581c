import type { ToolListView, ToolView } from '@app/api-client';
import { CliError, exitCodes } from '../exit-codes.js';
import type { RestClient } from '../rest-client.js';

export interface ToolFilter {
  readonly server?: string | undefined;
  readonly skill?: string | undefined;
  readonly isClassified?: boolean | undefined;
}

export function toolsLike(
  rest: RestClient,
  { server, skill, isClassified }: ToolFilter,
  most?: number,
): Promise<{ readonly first: ToolListView; readonly items: readonly ToolView[] }> {
  const filter = {
    ...(server !== undefined && { server }),
    ...(skill !== undefined && { skill }),
    ...(isClassified !== undefined && { is_classified: isClassified }),
  };
  return rest.list(
    (api, page) => api.listTools({ query: { ...page, ...filter } }),
    ({ tools }) => tools,
    most,
  );
}

/** The id of the tool with this name, `server.tool` or bare, or with this id. */
export async function toolId(rest: RestClient, name: string): Promise<string> {
  if (/^\d+$/.test(name)) return name;
  const dot = name.indexOf('.');
  const ofServer = dot > 0 ? await named(rest, name, { server: name.slice(0, dot) }) : [];
  const found = ofServer.length > 0 ? ofServer : await named(rest, name, {});
  const [only, ...others] = found;
  if (!only) throw new CliError(`There is no tool ${name}.`, exitCodes.notFound, 'TOOL_NOT_FOUND');
  if (others.length > 0) {
    const names = found.map((tool) => tool.name).join(', ');
    throw new CliError(
      `Several tools are named ${name}: ${names}`,
      exitCodes.failed,
      'TOOL_AMBIGUOUS',
    );
  }
  return only.id;
}

async function named(
  rest: RestClient,
  name: string,
  filter: ToolFilter,
): Promise<readonly ToolView[]> {
  const { items } = await toolsLike(rest, filter);
  const exact = items.filter((tool) => tool.name === name);
  return exact.length > 0 ? exact : items.filter((tool) => tool.original_name === name);
}
