import type { CatalogueTool } from '@app/catalogue';
import { PageView } from '@app/platform';
import { ApiProperty } from '@nestjs/swagger';
import { type Discovery, discoveryPhases } from './discovery-progress.js';
import type { Refresh } from './refresh-tools.command.js';

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
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'openai:gpt-5-mini',
    description: 'Model that assigned the skills, or `human`; null while unclassified.',
  })
  readonly classified_by!: string | null;
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
  @ApiProperty({ enum: ['REFRESHING', 'DEFERRED'], example: 'REFRESHING' })
  readonly status!: Refresh;
  @ApiProperty({ example: 'Tool discovery initiated' })
  readonly message!: string;
}

export function toRefreshView(serverId: string, status: Refresh): RefreshView {
  const message =
    status === 'DEFERRED'
      ? 'The server is degraded; its tools are discovered when it has recovered'
      : 'Tool discovery initiated';
  return { server_id: serverId, status, message };
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
    classified_by: tool.classifiedBy,
    discovered_at: tool.discoveredAt.toISOString(),
  };
}

export class DiscoveryView {
  @ApiProperty({ example: '550e8400-e29b-41d4-a716-446655440000' })
  readonly server_id!: string;
  @ApiProperty({
    enum: ['IDLE', ...discoveryPhases],
    description: 'IDLE: no discovery since the service started.',
  })
  readonly phase!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly started_at!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly finished_at!: string | null;
  @ApiProperty({ description: 'Tools the server listed.' })
  readonly listed!: number;
  @ApiProperty({ description: 'New and changed tools among them that are stored.' })
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
  @ApiProperty({ description: 'Published tools that have skills.' })
  readonly classified!: number;
}

const NONE_YET = {
  phase: 'IDLE',
  listed: 0,
  written: 0,
  added: 0,
  changed: 0,
  removed: 0,
  error: null,
};

export function toDiscoveryView(
  serverId: string,
  discovery: Discovery | undefined,
  tools: readonly CatalogueTool[],
): DiscoveryView {
  const { phase, listed, written, added, changed, removed, error } = discovery ?? NONE_YET;
  return {
    server_id: serverId,
    phase,
    started_at: discovery?.startedAt.toISOString() ?? null,
    finished_at: discovery?.finishedAt?.toISOString() ?? null,
    listed,
    written,
    added,
    changed,
    removed,
    error,
    published: tools.length,
    classified: tools.filter((tool) => tool.isClassified).length,
  };
}
