import { ApiProperty } from '@nestjs/swagger';
import type { StoredAuthorization } from './authorization.store.js';

/** Authorization state of a server. */
export class AuthorizationView {
  @ApiProperty({
    enum: ['needed', 'authorized'],
    description:
      'needed: a person has to consent. With a token for less, a server may work meanwhile.',
  })
  readonly status!: 'needed' | 'authorized';

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Where to consent; only admins see it. When it is absent or over, POST …/authorize gives a new one.',
  })
  readonly url!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly expires_at!: string | null;
}

/**
 * The URL is included only for callers that may consent: the account that consents there is the one the server
 * will use.
 */
export function toAuthorizationView(
  stored: StoredAuthorization | undefined,
  { now, mayConsent }: { readonly now: Date; readonly mayConsent: boolean },
): AuthorizationView | null {
  if (!stored) return null;
  const { needed, question } = stored;
  const open = mayConsent && question && question.until > now.getTime() ? question : null;
  return {
    status: needed ? 'needed' : 'authorized',
    url: open?.url ?? null,
    expires_at: open && new Date(open.until).toISOString(),
  };
}
