import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Env } from '@app/platform';
import type { Server } from 'node:http';
import type { OAuthIdentity } from '../oauth/oauth-identity.js';

export const CALLBACK_PATH = '/oauth/callback';
export const CLIENT_METADATA_PATH = '/oauth/client-metadata.json';

/** The address of this service for browsers and authorization servers. */
@Injectable()
export class OwnAddress {
  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** Without a path; undefined until the service listens. */
  get base(): string | undefined {
    return this.env.MCP_AGGREGATOR_PUBLIC_URL ?? this.listening();
  }

  /** Undefined until the service listens. */
  identity(): OAuthIdentity | undefined {
    const { base } = this;
    if (base === undefined) return undefined;
    return {
      redirectUrl: base + CALLBACK_PATH,
      clientMetadataUrl:
        this.env.MCP_AGGREGATOR_OAUTH_CLIENT_METADATA_URL ?? this.publishedMetadataUrl,
    };
  }

  /** Authorization servers fetch it from the internet, over TLS. */
  get publishedMetadataUrl(): string | undefined {
    const { MCP_AGGREGATOR_PUBLIC_URL: publicUrl } = this.env;
    return publicUrl?.startsWith('https:') ? publicUrl + CLIENT_METADATA_PATH : undefined;
  }

  get isListening(): boolean {
    return this.server?.listening === true;
  }

  onceListening(then: () => void): void {
    this.server?.once('listening', then);
  }

  private get server(): Server | undefined {
    return this.host.httpAdapter?.getHttpServer() as Server | undefined;
  }

  private listening(): string | undefined {
    const address = this.server?.address();
    if (!address || typeof address === 'string') return undefined;
    const anywhere = address.address === '0.0.0.0' || address.address === '::';
    const name = anywhere ? '127.0.0.1' : address.address;
    return `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`;
  }
}
