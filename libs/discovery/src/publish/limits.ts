import type { DiscoveredTool } from '@app/catalogue';
import type { ToolRemark } from '../tool.js';

export interface ToolLimits {
  readonly perServer: number;
  /** What remains of the limit over all servers. */
  readonly free: number;
}

/** For the names of tools over a limit, and again for remarks: ten thousand usual names. */
const MAX_WARNING_CHARS = 262_144;

export interface Publication {
  readonly published: readonly DiscoveredTool[];
  /** How many tools would be published if other servers left room. */
  readonly leftOut: number;
  readonly warnings: string[];
}

/**
 * The tools within the limits, in the order of the server, and warnings for its owner about the others (contract
 * R8).
 */
export function withinLimits(
  tools: readonly DiscoveredTool[],
  remarks: readonly ToolRemark[],
  limits: ToolLimits,
): Publication {
  const published = tools.slice(0, Math.max(0, Math.min(limits.perServer, limits.free)));
  const left = tools.slice(published.length).map((tool) => tool.originalName);
  const setting =
    limits.free < limits.perServer
      ? 'MCP_AGGREGATOR_MAX_TOOLS, over all servers'
      : `MCP_AGGREGATOR_MAX_TOOLS_PER_SERVER, ${limits.perServer} a server`;
  return {
    published,
    leftOut: Math.min(tools.length, limits.perServer) - published.length,
    warnings: [
      ...(left.length > 0
        ? [`${count(left.length)} over the limit (${setting}) not published: ${joined(left)}`]
        : []),
      ...linesOf(remarks),
    ],
  };
}

function count(tools: number): string {
  return tools === 1 ? '1 tool' : `${tools} tools`;
}

function linesOf(remarks: readonly ToolRemark[]): string[] {
  const lines = remarks.map(({ name, text }) => `tool ${JSON.stringify(name)} ${text}`);
  const shown = lines.slice(0, fitting(lines));
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, `${more} more remarks of such kinds`] : shown;
}

function joined(names: readonly string[]): string {
  const shown = names.slice(0, fitting(names));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

/** The number of texts that fit into the warning. */
function fitting(texts: readonly string[]): number {
  let chars = 0;
  const over = texts.findIndex((text) => (chars += text.length) > MAX_WARNING_CHARS);
  return over < 0 ? texts.length : over;
}
