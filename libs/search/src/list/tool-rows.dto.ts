import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import type { CatalogueServer, CatalogueTool } from '@app/catalogue';
import { cutText, PageView } from '@app/platform';
import { hasAnnotation, type RuleAnnotation, ruleAnnotations } from '@app/policy';
import {
  statusOf,
  tokenCostOf,
  type ToolOrder,
  toolOrders,
  type ToolStatus,
  toolStatuses,
} from './select-tools.js';
import { ListToolsQuery } from './tool-list.dto.js';

/** A page ends before it is larger, and the next one begins at `next_offset`. */
export const MAX_PAGE_BYTES = 200_000;
/** For the members around the rows. */
const FRAME_BYTES = 1_000;
const MAX_LINE_CHARS = 160;

export class ListToolRowsQuery extends ListToolsQuery {
  @ApiPropertyOptional({ enum: toolOrders, default: 'name', description: '- for descending.' })
  @IsOptional()
  @IsIn(toolOrders, { message: `Must be one of ${toolOrders.join(', ')}` })
  readonly sort: ToolOrder = 'name';
}

export class ToolRowView {
  @ApiProperty({ example: '1' })
  readonly id!: string;
  @ApiProperty({ example: 'github-mcp.create_issue' })
  readonly name!: string;
  @ApiProperty({ example: 'github-mcp' })
  readonly server!: string;
  @ApiProperty({ type: String, nullable: true, example: 'Create issue' })
  readonly title!: string | null;
  @ApiProperty({
    example: 'Create a new GitHub issue',
    description: 'The first line; empty for a withheld tool.',
  })
  readonly description!: string;
  @ApiProperty({ type: [String], example: ['version_control'] })
  readonly skill_ids!: readonly string[];
  @ApiProperty({ isArray: true, enum: ruleAnnotations, example: ['destructive', 'open_world'] })
  readonly annotations!: readonly RuleAnnotation[];
  @ApiProperty({ example: 168, description: 'Estimated tokens of its definition in a list.' })
  readonly tokens!: number;
  @ApiProperty({
    enum: toolStatuses,
    description: 'unavailable: its server is not connected; withheld: it waits for approval.',
  })
  readonly status!: ToolStatus;
}

export class ToolRowsView extends PageView {
  @ApiProperty({ type: [ToolRowView] })
  readonly tools!: readonly ToolRowView[];
  @ApiProperty({
    type: 'integer',
    nullable: true,
    example: 500,
    description: `The offset of the next page; null on the last. A page of more than ${MAX_PAGE_BYTES / 1_000} kB ends early.`,
  })
  readonly next_offset!: number | null;
}

/** The rows of a page, as many as fit. */
export function toToolRows(
  tools: readonly CatalogueTool[],
  servers: ReadonlyMap<string, CatalogueServer>,
): ToolRowView[] {
  const rows: ToolRowView[] = [];
  let bytes = FRAME_BYTES;
  for (const tool of tools) {
    const row = toToolRow(tool, servers.get(tool.serverId));
    bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
    if (bytes > MAX_PAGE_BYTES && rows.length > 0) break;
    rows.push(row);
  }
  return rows;
}

function toToolRow(tool: CatalogueTool, server: CatalogueServer | undefined): ToolRowView {
  // The texts of a withheld tool may be the reason why it is withheld.
  const isWithheld = tool.withheld !== null;
  return {
    id: String(tool.id),
    name: tool.name,
    server: tool.serverName,
    title: isWithheld || tool.title === null ? null : cutText(tool.title, MAX_LINE_CHARS),
    description: isWithheld ? '' : firstLineOf(tool.description),
    skill_ids: tool.skillIds,
    annotations: ruleAnnotations.filter((annotation) => hasAnnotation(tool, annotation)),
    tokens: tokenCostOf(tool),
    status: statusOf(tool, server),
  };
}

function firstLineOf(text: string): string {
  const [line = ''] = text
    .trimStart()
    .slice(0, 2 * MAX_LINE_CHARS)
    .split(/\r?\n/, 1);
  return cutText(line.trimEnd(), MAX_LINE_CHARS);
}
