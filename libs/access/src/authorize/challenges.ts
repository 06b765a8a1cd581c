import { Injectable } from '@nestjs/common';
import { Env, scopesUpTo, type TokenScope } from '@app/platform';
import type { FastifyRequest } from 'fastify';
import { ScopeMissing } from '../access.errors.js';
import { JwtVerifier } from '../authenticate/jwt-verifier.js';
import { endpointIn, metadataUrl } from '../authenticate/oauth-metadata.js';

/** Parameters of `WWW-Authenticate` by which an OAuth client learns where to get a token, and with which scopes. */
@Injectable()
export class Challenges {
  constructor(
    private readonly env: Env,
    private readonly jwts: JwtVerifier,
  ) {}

  /** Of a 401. */
  unauthorized(request: FastifyRequest, error: string | undefined): string {
    return this.bearer(request, error, scopeFor(request));
  }

  /** A 403 that names every scope the request needs, because clients ask for exactly these. */
  scopeMissing(request: FastifyRequest, needed: TokenScope): ScopeMissing {
    return new ScopeMissing(needed, this.bearer(request, 'insufficient_scope', needed));
  }

  private bearer(request: FastifyRequest, error: string | undefined, needed: TokenScope): string {
    return [
      'Bearer realm="switchboard"',
      error && `error="${error}"`,
      `scope="${scopesUpTo(needed).join(' ')}"`,
      this.jwts.isConfigured &&
        `resource_metadata="${metadataUrl(request, this.env.MCP_AGGREGATOR_PUBLIC_URL)}"`,
    ]
      .filter(Boolean)
      .join(', ');
  }
}

/** MCP endpoints are opened with `read`, but clients come to call: some never ask for more later. */
function scopeFor({ url, routeOptions }: FastifyRequest): TokenScope {
  if (endpointIn(url) !== '') return 'call';
  const access = routeOptions.config.access ?? 'read';
  return access === 'public' ? 'read' : access;
}
