import { ApiProperty } from '@nestjs/swagger';
import type { CatalogueTool } from './catalogue-snapshot.js';

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

export class ServerToolsView {
  @ApiProperty({ type: [ServerToolView] })
  readonly tools!: ServerToolView[];
  @ApiProperty()
  readonly total!: number;
  @ApiProperty()
  readonly classified!: number;
  @ApiProperty()
  readonly unclassified!: number;
  @ApiProperty()
  readonly limit!: number;
  @ApiProperty()
  readonly offset!: number;
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
