import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { CALLER_TOKEN_HEADER } from '@app/platform';
import { JwtRefused, Unauthorized } from '../access.errors.js';
import { BrowserSessions } from '../browser-sessions/browser-sessions.js';
import type { LoginCode } from '../browser-sessions/login-code.store.js';
import { Challenges } from '../authorize/challenges.js';
import { CallerTokens } from './caller-tokens.js';
import { JwtVerifier } from './jwt-verifier.js';
import type { Principal } from './principal.js';
import { Tokens } from './tokens.js';

/** Determines the principal of a request. */
@Injectable()
export class Authenticator {
  constructor(
    private readonly tokens: Tokens,
    private readonly jwts: JwtVerifier,
    private readonly sessions: BrowserSessions,
    private readonly challenges: Challenges,
    private readonly callers: CallerTokens,
  ) {}

  /**
   * Undefined without credentials; throws or rejects for wrong ones. A known token or a verified JWT is
   * resolved synchronously and costs one hash. A browser session counts only without an Authorization header.
   */
  authenticate(request: FastifyRequest): Principal | undefined | Promise<Principal | undefined> {
    const header = request.headers.authorization;
    if (header === undefined) return this.bySession(request);
    const token = bearerToken(header) ?? (isDocs(request) ? basicPassword(header) : undefined);
    if (token === undefined) throw this.refusal(request, 'invalid_request');
    const tokenHash = hash('sha256', token, 'binary');
    const known = this.tokens.find(tokenHash) ?? this.jwts.remembered(tokenHash, request.url);
    if (known) return known;
    if (!this.jwts.isConfigured || token.split('.').length !== 3) {
      throw this.refusal(request, 'invalid_token');
    }
    return this.verify(request, token, tokenHash);
  }

  /** The JWT of the sender of a request that another replica has passed on, and whose pass was redeemed. */
  keepPassed(
    { headers }: Pick<FastifyRequest, 'headers'>,
    { subject }: Pick<Principal, 'subject'>,
  ): void {
    const token = headers[CALLER_TOKEN_HEADER];
    if (subject !== undefined && typeof token === 'string') this.callers.keepSealed(subject, token);
  }

  /** The token of this service that a request came with, itself or its session; undefined for a JWT. */
  async ownTokenOf(request: FastifyRequest): Promise<Omit<LoginCode, 'codeHash'> | undefined> {
    const { authorization } = request.headers;
    if (authorization === undefined) {
      const session = await this.sessions.of(request);
      return session && { tokenHash: session.tokenHash, sessionEndsBy: session.expiresAt };
    }
    const tokenHash = hash('sha256', bearerToken(authorization) ?? '', 'hex');
    return this.tokens.holderOf(tokenHash) && { tokenHash, sessionEndsBy: null };
  }

  /** A 401 with the challenge for this route. */
  refusal(request: FastifyRequest, error?: 'invalid_token' | 'invalid_request'): Unauthorized {
    return new Unauthorized(explain(error), this.challenge(request, error));
  }

  private bySession(
    request: FastifyRequest,
  ): Principal | undefined | Promise<Principal | undefined> {
    const session = this.sessions.of(request);
    return session instanceof Promise
      ? session.then((found) => found?.principal)
      : session?.principal;
  }

  private async verify(
    request: FastifyRequest,
    token: string,
    tokenHash: string,
  ): Promise<Principal> {
    try {
      const principal = await this.jwts.verify(token, tokenHash, request.url);
      const { subject, client } = principal;
      // Never a token of the own authorization server, which has a client: no other service may get it. The subject does
      // not tell: people of an identity provider have that of its JWTs with both.
      if (subject !== undefined && client === undefined) this.callers.keep(subject, token);
      return principal;
    } catch (error) {
      throw error instanceof JwtRefused ? this.refusal(request, 'invalid_token') : error;
    }
  }

  private challenge(request: FastifyRequest, error: string | undefined): string {
    // Basic only here: it makes browsers prompt for the token.
    if (isDocs(request)) return 'Basic realm="switchboard: any name, the token as password"';
    return this.challenges.unauthorized(request, error);
  }
}

function explain(error: 'invalid_token' | 'invalid_request' | undefined): string {
  switch (error) {
    case undefined:
      return 'This needs a token, sent as `Authorization: Bearer <token>`';
    case 'invalid_request':
      return 'The Authorization header must read `Bearer <token>`';
    case 'invalid_token':
      return 'The token is not known here, or has expired';
    default:
      return error satisfies never;
  }
}

/** By the matched route, not by the raw path, which may be percent-encoded. */
function isDocs(request: FastifyRequest): boolean {
  return isDocsRoute(request.routeOptions.url);
}

export function isDocsRoute(route: string | undefined): boolean {
  return route !== undefined && /^\/docs(?:[/-]|$)/.test(route);
}

function bearerToken(header: string): string | undefined {
  return /^Bearer +([\x21-\x7e]+)$/i.exec(header)?.[1];
}

function basicPassword(header: string): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon < 0 ? undefined : pair.slice(colon + 1);
}
