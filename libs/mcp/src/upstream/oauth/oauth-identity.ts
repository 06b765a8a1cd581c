import type { OAuthClientMetadata } from '@modelcontextprotocol/client';

export interface OAuthIdentity {
  /** Where browsers come back to. */
  readonly redirectUrl: string;
  /** The published document that is our client id, for authorization servers that read such. */
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
