import { ApiProperty } from '@nestjs/swagger';
import { type PersonalServer } from '@app/registry';
import { IsObject } from 'class-validator';
import type { ShownCredential } from './person-credential.store.js';

export const connectionStatuses = ['connected', 'needed', 'none'] as const;

export class GiveCredentialsDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { GITHUB_TOKEN: 'ghp_…' },
    description:
      'Values by the names in `fields` of the connection; stored encrypted, and never shown again.',
  })
  @IsObject({ message: 'Input should be a JSON object' })
  readonly values!: Record<string, unknown>;
}

export class ConnectionView {
  @ApiProperty({ format: 'uuid' })
  readonly server_id!: string;

  @ApiProperty({ example: 'github' })
  readonly server_name!: string;

  @ApiProperty({
    enum: connectionStatuses,
    description:
      'connected: calls use the credentials of the caller. needed: they have to be given again. none: they were never given.',
  })
  readonly status!: (typeof connectionStatuses)[number];

  @ApiProperty({ type: [String], description: 'Names of the values that the server asks for.' })
  readonly fields!: readonly string[];

  @ApiProperty({ description: 'It is connected by logging in at its authorization server.' })
  readonly uses_oauth!: boolean;

  @ApiProperty({ type: String, nullable: true, description: 'What was granted, with OAuth.' })
  readonly scopes!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'End of the token, which is renewed if the authorization server allows it.',
  })
  readonly expires_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly connected_at!: string | null;
}

export class ConnectionListView {
  @ApiProperty({ type: [ConnectionView], description: 'By name of the server.' })
  readonly connections!: ConnectionView[];
}

export class ConnectLinkView {
  @ApiProperty({
    example: 'http://127.0.0.1:8081/connect/github/3vJ…',
    description: 'Opened in a browser in which the caller is logged in; good once.',
  })
  readonly url!: string;

  @ApiProperty({ format: 'date-time', description: 'Until when it can be opened.' })
  readonly expires_at!: string;
}

export class PersonConnectionView {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ example: 'jwt:alice', description: 'The caller, as the audit log names it.' })
  readonly person!: string;

  @ApiProperty({
    example: 'jwt:https://id.example.com alice',
    description: 'Who it is, whichever token is used: never given to another.',
  })
  readonly subject!: string;

  @ApiProperty({ enum: ['connected', 'needed'] })
  readonly status!: 'connected' | 'needed';

  @ApiProperty({ type: String, nullable: true })
  readonly scopes!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly expires_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly connected_at!: string | null;
}

export class PersonConnectionListView {
  @ApiProperty({ type: [PersonConnectionView], description: 'By person.' })
  readonly connections!: PersonConnectionView[];
}

export function toConnectionView(
  { server, template }: PersonalServer,
  row: ShownCredential | undefined,
): ConnectionView {
  return {
    server_id: server.id,
    server_name: server.name,
    status: statusOf(row),
    fields: template.fields,
    uses_oauth: template.usesOAuth,
    scopes: row?.scopes ?? null,
    expires_at: row?.expiresAt?.toISOString() ?? null,
    connected_at: row?.connectedAt?.toISOString() ?? null,
  };
}

export function toPersonConnectionView(row: ShownCredential): PersonConnectionView {
  return {
    id: row.id,
    person: row.person,
    subject: row.subject,
    status: row.needed ? 'needed' : 'connected',
    scopes: row.scopes,
    expires_at: row.expiresAt?.toISOString() ?? null,
    connected_at: row.connectedAt?.toISOString() ?? null,
  };
}

function statusOf(row: ShownCredential | undefined): ConnectionView['status'] {
  if (!row || (row.needed && row.connectedAt === null)) return 'none';
  return row.needed ? 'needed' : 'connected';
}
