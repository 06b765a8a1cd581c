import { PageView } from '@app/platform';
import { ApiProperty } from '@nestjs/swagger';
import type { CatalogueTool } from './catalogue-snapshot.js';
import { type Discovery, discoveryPhases } from './discovery-progress.js';

export class ServerToolView {
  @ApiProperty({ example: '1' })
  readonly id!: string;
  @ApiProperty({ example: 'github-mcp.create_issue' })
  readonly name!: string;
  @ApiProperty({ example: 'create_issue' })
  readonly original_name!: string;
  @ApiProperty({ example: 'Create a new GitHub issue' })
  readonly description!: string;
  @ApiProperty({ type: [String], example: ['code_management', 'issue_tracking'] })
  readonly skill_ids!: readonly string[];
  @ApiProperty({ type: String, nullable: true, example: 'issue_tracking' })
  readonly primary_skill_id!: string | null;
  @ApiProperty()
  readonly is_classified!: boolean;
  @ApiProperty({ format: 'date-time' })
  readonly discovered_at!: string;
}

export class ServerToolsView extends PageView {
  @ApiProperty({ type: [ServerToolView] })
  readonly tools!: ServerToolView[];
  @ApiProperty()
  readonly classified!: number;
  @ApiProperty()
  readonly unclassified!: number;
}

export class RefreshView {
  @ApiProperty({ example: '550e8400-e29b-41d4-a716-446655440000' })
  readonly server_id!: string;
  @ApiProperty({ example: 'REFRESHING' })
  readonly status!: string;
  @ApiProperty({ example: 'Tool discovery initiated' })
  readonly message!: string;
}

export function toServerToolView(tool: CatalogueTool): ServerToolView {
  return {
    id: String(tool.id),
    name: tool.name,
    original_name: tool.originalName,
    description: tool.description,
    skill_ids: tool.skillIds,
    primary_skill_id: tool.primarySkillId,
    is_classified: tool.isClassified,
    discovered_at: tool.discoveredAt.toISOString(),
  };
}

export class DiscoveryView {
  @ApiProperty({ example: '550e8400-e29b-41d4-a716-446655440000' })
  readonly server_id!: string;
  @ApiProperty({ enum: ['IDLE', ...discoveryPhases], description: 'IDLE: none since the start.' })
  readonly phase!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly started_at!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly finished_at!: string | null;
  @ApiProperty({ description: 'Tools the server listed.' })
  readonly listed!: number;
  @ApiProperty({ description: 'Of them, new and changed ones that are written.' })
  readonly written!: number;
  @ApiProperty()
  readonly added!: number;
  @ApiProperty()
  readonly changed!: number;
  @ApiProperty()
  readonly removed!: number;
  @ApiProperty({ type: String, nullable: true })
  readonly error!: string | null;
  @ApiProperty({ description: 'Tools of this server that are published.' })
  readonly published!: number;
  @ApiProperty({ description: 'Of them, those that have skills.' })
  readonly classified!: number;
}

export function toDiscoveryView(
  serverId: string,
  discovery: Discovery | undefined,
  tools: readonly CatalogueTool[],
): DiscoveryView {
  return {
    server_id: serverId,
    phase: discovery?.phase ?? 'IDLE',
    started_at: discovery?.startedAt.toISOString() ?? null,
    finished_at: discovery?.finishedAt?.toISOString() ?? null,
    listed: discovery?.listed ?? 0,
    written: discovery?.written ?? 0,
    added: discovery?.added ?? 0,
    changed: discovery?.changed ?? 0,
    removed: discovery?.removed ?? 0,
    error: discovery?.error ?? null,
    published: tools.length,
    classified: tools.filter((tool) => tool.isClassified).length,
  };
}
