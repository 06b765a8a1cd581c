import { ApiProperty } from '@nestjs/swagger';
import { PageView, type Role, roleOf, roles, type TokenScope, tokenScopes } from '@app/platform';
import type { ListedPerson } from './person.js';

export class PersonView {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ description: 'Of the identity provider.' })
  readonly issuer!: string;

  @ApiProperty({
    description: 'What the identity provider calls the person; never given to another.',
  })
  readonly subject!: string;

  @ApiProperty({ example: 'ada@example.com', description: 'For people to read; proves nothing.' })
  readonly label!: string;

  @ApiProperty({ enum: roles, nullable: true, description: 'By the scope that reaches farthest.' })
  readonly role!: Role | null;

  @ApiProperty({ enum: tokenScopes, isArray: true, description: 'Of the last login.' })
  readonly scopes!: TokenScope[];

  @ApiProperty({ type: [String], description: 'Of the last login.' })
  readonly groups!: string[];

  @ApiProperty({
    description:
      'False for one who has to log in again: after MCP_AGGREGATOR_LOGIN_DAYS, or since the settings of logins changed.',
  })
  readonly active!: boolean;

  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;

  @ApiProperty({ format: 'date-time' })
  readonly last_login_at!: string;

  @ApiProperty({ format: 'date-time', description: 'Unless the person logs in again before.' })
  readonly ends_at!: string;
}

export class PersonListView extends PageView {
  @ApiProperty({ type: [PersonView] })
  readonly people!: PersonView[];
}

export function toPersonView(person: ListedPerson): PersonView {
  return {
    id: person.id,
    issuer: person.issuer,
    subject: person.subject,
    label: person.label,
    role: roleOf(person.scopes) ?? null,
    scopes: [...person.scopes],
    groups: [...person.groups],
    active: person.isActive,
    created_at: person.createdAt.toISOString(),
    last_login_at: person.lastLoginAt.toISOString(),
    ends_at: person.endsAt.toISOString(),
  };
}
