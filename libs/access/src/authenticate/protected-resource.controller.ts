import { Controller, Get, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Env, scopesUpTo, tokenScopes } from '@app/platform';
import type { FastifyRequest } from 'fastify';
import { Public } from '../authorize/access.decorators.js';
import { NoIssuer } from '../access.errors.js';
import { JwtVerifier } from './jwt-verifier.js';
import { baseUrl, MCP_ROUTES, METADATA_PATH } from './oauth-metadata.js';

interface ProtectedResource {
  readonly resource: string;
  readonly resource_name: string;
  readonly authorization_servers: readonly string[];
  readonly bearer_methods_supported: readonly string[];
  readonly scopes_supported: readonly string[];
}

/** Protected resource metadata of this service and its MCP endpoints (RFC 9728). */
@Public()
@ApiExcludeController()
@Controller(METADATA_PATH)
export class ProtectedResourceController {
  constructor(
    private readonly env: Env,
    private readonly jwts: JwtVerifier,
  ) {}

  @Get(['', ...MCP_ROUTES])
  describe(@Req() request: FastifyRequest): ProtectedResource {
    const { issuerName: issuer } = this.jwts;
    if (issuer === undefined) throw new NoIssuer();
    const { pathname } = new URL(request.url, 'http://localhost');
    const endpoint = pathname.slice(METADATA_PATH.length);
    return {
      resource: `${this.env.MCP_AGGREGATOR_PUBLIC_URL ?? baseUrl(request)}${endpoint}`,
      resource_name: 'Switchboard',
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      // Clients that are told no scopes ask for all of these: none of an MCP endpoint needs more.
      scopes_supported: endpoint === '' ? tokenScopes : scopesUpTo('call'),
    };
  }
}
