import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { type CatalogueServer } from '@app/catalogue';
import { Cursor, CursorPageView, CursorQuery, isRowId } from '@app/platform';
import { Transform } from 'class-transformer';
import { IsIn, IsOptional, IsUUID, Matches } from 'class-validator';
import { type ApprovalKind, approvalKinds } from './approval.js';
import type { Approval } from './approval.store.js';
import { changedMembers, fieldChanges } from './decide/field-changes.js';
import { type FindingCode, findingCodes } from './findings/finding.js';

const waitingStates = ['PENDING', 'REJECTED'] as const;
type WaitingState = (typeof waitingStates)[number];

/** A server can change thousands of members at once. */
const MAX_CHANGES = 500;

const upperCase = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' ? value.toUpperCase() : value;

export class ListApprovalsQuery extends CursorQuery {
  @ApiPropertyOptional({ format: 'uuid', description: 'Only of this server.' })
  @IsOptional()
  @IsUUID(undefined, { message: 'Must be the id of a server' })
  readonly server_id?: string;

  @ApiPropertyOptional({ enum: waitingStates, description: 'In any case.' })
  @Transform(upperCase)
  @IsOptional()
  @IsIn(waitingStates, { message: `Must be one of ${waitingStates.join(', ')}` })
  readonly state?: WaitingState;
}

export class ReviewDto {
  @ApiProperty({
    pattern: '^[0-9a-f]{64}$',
    description: 'The `expected_hash` of what was looked at.',
  })
  @Matches(/^[0-9a-f]{64}$/, { message: 'Must be 64 hexadecimal digits' })
  readonly expected_hash!: string;
}

export class FindingView {
  @ApiProperty({ enum: findingCodes })
  readonly code!: FindingCode;
  @ApiProperty({ example: 'description' })
  readonly where!: string;
  @ApiProperty({ description: 'May quote the server.' })
  readonly text!: string;
}

export class FieldChangeView {
  @ApiProperty({ example: 'inputSchema/properties/path/description' })
  readonly path!: string;
  @ApiProperty({ type: String, nullable: true, description: 'JSON; null where it was not there.' })
  readonly before!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'JSON; null where it is not there.' })
  readonly after!: string | null;
}

export class ApprovalView {
  @ApiProperty({ example: '1' })
  readonly id!: string;
  @ApiProperty({ enum: approvalKinds })
  readonly kind!: ApprovalKind;
  @ApiProperty({ example: '550e8400-e29b-41d4-a716-446655440000' })
  readonly server_id!: string;
  @ApiProperty({ example: 'github-mcp' })
  readonly server_name!: string;
  @ApiProperty({ example: 'create_issue', description: 'The name at its server.' })
  readonly name!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Null for what is no tool, and while the server does not list the tool.',
  })
  readonly tool_id!: string | null;
  @ApiProperty({ enum: waitingStates })
  readonly state!: string;
  @ApiProperty({ description: 'Nothing of this name was approved before.' })
  readonly is_new!: boolean;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The former name of a tool that was removed and added with nearly the same text.',
  })
  readonly renamed_from!: string | null;
  @ApiProperty({ type: [String], description: 'Members that differ from the approved definition.' })
  readonly fields!: readonly string[];
  @ApiProperty({ type: [FindingView] })
  readonly findings!: FindingView[];
  @ApiProperty({ description: 'What approve and reject expect.' })
  readonly expected_hash!: string;
  @ApiProperty({ format: 'date-time' })
  readonly changed_at!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Who rejected it.' })
  readonly decided_by!: string | null;
}

export class ApprovalListView extends CursorPageView {
  @ApiProperty({ type: [ApprovalView] })
  readonly approvals!: ApprovalView[];
}

export class ApprovalDetailView extends ApprovalView {
  @ApiProperty({ type: [FieldChangeView], description: 'At most 500.' })
  readonly changes!: FieldChangeView[];
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true })
  readonly approved_definition!: Record<string, unknown> | null;
  @ApiProperty({ type: 'object', additionalProperties: true })
  readonly listed_definition!: Record<string, unknown>;
}

export class ReviewedView {
  @ApiProperty({ enum: ['APPROVED', 'REJECTED'] })
  readonly status!: string;
  @ApiProperty({ description: 'How many definitions that decided on.' })
  readonly definitions!: number;
}

export const approvalCursor = new Cursor<Approval>('approvals', ({ id }) => String(id), isRowId);

type Servers = ReadonlyMap<string, CatalogueServer>;

export function toApprovalView(approval: Approval, servers: Servers): ApprovalView {
  const { approvedDefinition: before, listedDefinition: after } = approval;
  return {
    id: String(approval.id),
    kind: approval.kind,
    server_id: approval.serverId,
    server_name: servers.get(approval.serverId)?.name ?? '',
    name: approval.name,
    tool_id: approval.toolId === null ? null : String(approval.toolId),
    state: approval.state,
    is_new: approval.approvedHash === null,
    renamed_from: approval.renamedFrom,
    fields: before ? changedMembers(fieldChanges(before, after)) : [],
    findings: approval.findings.map(({ code, where, text }) => ({ code, where, text })),
    expected_hash: approval.listedHash,
    changed_at: approval.changedAt.toISOString(),
    decided_by: approval.decidedBy,
  };
}

export function toApprovalDetailView(approval: Approval, servers: Servers): ApprovalDetailView {
  const { approvedDefinition: before, listedDefinition: after } = approval;
  return Object.assign(toApprovalView(approval, servers), {
    changes: fieldChanges(before ?? {}, after)
      .slice(0, MAX_CHANGES)
      .map((change) => ({
        path: change.path,
        before: change.before === undefined ? null : JSON.stringify(change.before),
        after: change.after === undefined ? null : JSON.stringify(change.after),
      })),
    approved_definition: before,
    listed_definition: after,
  });
}
