import { ApiProperty } from '@nestjs/swagger';
import { PageView, type TokenScope, tokenScopes } from '@app/platform';
import type { ClientGrant } from './client-grant.js';

export class OAuthGrantView {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ description: 'Whose rights the client has, and no more than these.' })
  readonly person!: string;

  @ApiProperty({ type: String, nullable: true, description: 'As the client calls itself.' })
  readonly client_name!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The host that publishes the metadata of the client; null for an unverified client, which registered by itself.',
  })
  readonly client_domain!: string | null;

  @ApiProperty({ description: 'Host or scheme of the address that gets the codes.' })
  readonly redirect_host!: string;

  @ApiProperty({ enum: tokenScopes, isArray: true })
  readonly scopes!: TokenScope[];

  @ApiProperty({ example: '/mcp', description: '`/` for the whole service.' })
  readonly resource!: string;

  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the client last got another token.',
  })
  readonly last_used_at!: string | null;

  @ApiProperty({ format: 'date-time', description: 'Unless its client comes back before.' })
  readonly expires_at!: string;
}

export class OAuthGrantListView extends PageView {
  @ApiProperty({ type: [OAuthGrantView] })
  readonly grants!: OAuthGrantView[];
}

export function toGrantView(grant: ClientGrant): OAuthGrantView {
  const { id, person, client, scopes, resource } = grant;
  return {
    id,
    person,
    client_name: client.name,
    client_domain: client.domain,
    redirect_host: client.redirectHost,
    scopes: [...scopes],
    resource: resource === '' ? '/' : resource,
    created_at: new Date(grant.createdAt).toISOString(),
    last_used_at: grant.lastUsedAt && new Date(grant.lastUsedAt).toISOString(),
    expires_at: new Date(grant.expiresAt).toISOString(),
  };
}
