import type { OAuthClientMetadata } from '@modelcontextprotocol/client';

export interface OAuthIdentity {
  /** The callback URL. */
  readonly redirectUrl: string;
  /** URL of the published client metadata, which is our client id where authorization servers support that. */
  readonly clientMetadataUrl?: string | undefined;
}

export function clientMetadata({ redirectUrl }: OAuthIdentity): OAuthClientMetadata {
  return {
    client_name: 'Switchboard',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}
