import type { DiscoveredTool, ToolRemark } from './tool.js';

export interface ToolLimits {
  readonly perServer: number;
  /** What is left of the limit over all servers. */
  readonly free: number;
}

const NAMED_IN_A_WARNING = 20;

/** The tools that are published, in the server's order, and what its owner should know of the others (RULINGS R8). */
export function withinLimits(
  tools: readonly DiscoveredTool[],
  remarks: readonly ToolRemark[],
  limits: ToolLimits,
): { published: readonly DiscoveredTool[]; warnings: string[] } {
  const published = tools.slice(0, Math.max(0, Math.min(limits.perServer, limits.free)));
  const left = tools.slice(published.length).map((tool) => tool.originalName);
  const setting =
    limits.free < limits.perServer
      ? 'MCP_AGGREGATOR_MAX_TOOLS, over all servers'
      : `MCP_AGGREGATOR_MAX_TOOLS_PER_SERVER, ${limits.perServer} a server`;
  return {
    published,
    warnings: [
      ...(left.length > 0
        ? [`${count(left.length)} over the limit (${setting}) not published: ${someOf(left)}`]
        : []),
      ...remarks
        .slice(0, NAMED_IN_A_WARNING)
        .map(({ name, text }) => `tool ${JSON.stringify(name)} ${text}`),
      ...(remarks.length > NAMED_IN_A_WARNING
        ? [`${remarks.length - NAMED_IN_A_WARNING} more remarks of such kinds`]
        : []),
    ],
  };
}

function count(tools: number): string {
  return tools === 1 ? '1 tool' : `${tools} tools`;
}

function someOf(names: readonly string[]): string {
  const shown = names.slice(0, NAMED_IN_A_WARNING).join(', ');
  const more = names.length - NAMED_IN_A_WARNING;
  return more > 0 ? `${shown} and ${more} more` : shown;
}
