import { ApiProperty } from '@nestjs/swagger';
import { PageView } from '@app/platform';

export class ClientSessionView {
  @ApiProperty({ format: 'uuid', description: 'Not the MCP session id, which is a secret.' })
  readonly id!: string;
  @ApiProperty({ type: String, nullable: true, description: 'The principal; told to admins.' })
  readonly caller!: string | null;
  @ApiProperty({
    enum: ['legacy', 'modern'],
    description:
      'legacy: an open session. modern: a stateless client (2026-07-28) that sent a request within the last minutes.',
  })
  readonly era!: 'legacy' | 'modern';
  @ApiProperty({ type: String, nullable: true, example: 'claude-code' })
  readonly client_name!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '2.1.0' })
  readonly client_version!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '2025-11-25' })
  readonly protocol_version!: string | null;
  @ApiProperty({ example: '/mcp' })
  readonly endpoint!: string;
  @ApiProperty({ type: String, nullable: true, example: 'default' })
  readonly view!: string | null;
  @ApiProperty({ type: [String], example: ['elicitation', 'roots'] })
  readonly capabilities!: string[];
  @ApiProperty({ type: 'integer', description: 'Resources whose updates it asked for.' })
  readonly subscriptions!: number;
  @ApiProperty({ type: 'integer', description: 'Open streams on which it waits for messages.' })
  readonly streams!: number;
  @ApiProperty({ format: 'date-time' })
  readonly opened_at!: string;
  @ApiProperty({ format: 'date-time' })
  readonly last_seen_at!: string;
  @ApiProperty({ type: 'integer', description: 'Tool calls.' })
  readonly calls!: number;
  @ApiProperty({ type: 'integer', description: 'Requests in flight.' })
  readonly running!: number;
  @ApiProperty({ description: 'The replica that it is connected to; short.', example: '3f2a9c1b' })
  readonly replica!: string;
}

export class ClientSessionListView extends PageView {
  @ApiProperty({ type: [ClientSessionView], description: 'Last seen first.' })
  readonly sessions!: ClientSessionView[];
  @ApiProperty({ type: 'integer', description: 'Replicas that did not answer.' })
  readonly replicas_missing!: number;
}
