import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { PageLogin } from '@app/access';
import { AppError, Clock, ClusterKeys, Env } from '@app/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import { hopPage, html, problemPage, startPage } from '../consent/pages.js';
import { networkOf, refuseExcess } from '../request-limits.js';
import { FailedLogins } from './failed-logins.js';
import { CALLBACK_PATH, IdentityProvider, LOGIN_PATH } from './identity-provider.js';
import { LoginFailed } from './identity.errors.js';
import { fromCookie, type LoginAttempt, ownPage, proofsOf, toCookie } from './login-attempt.js';
import { admitsAllOfGoogle, provedPerson } from './proved-person.js';

const COOKIE = 'switchboard_login';
/** Time to log in at the provider. */
const MAX_AGE_S = 600;
/** Of one address, which the people of a company may share; each login is two requests. */
const LOGINS = { max: 240, timeWindow: 60_000 };
const FAILED = 'You are not logged in';
const STATUS = new Map<string, number>([
  ['forbidden', 403],
  ['conflict', 409],
  ['rate-limited', 429],
  ['unavailable', 503],
]);
const OVER =
  'This login is over: it was used, took longer than ten minutes, or began in another browser. Begin it again.';

/** The login of people at the identity provider; no route is added without one. */
@Injectable()
export class IdentityRoutes implements OnModuleInit {
  private readonly logger = new Logger('oauth');
  private readonly failed = new FailedLogins();
  /** Any replica may finish a login. */
  private readonly keys: readonly [Buffer, ...Buffer[]];

  constructor(
    private readonly env: Env,
    private readonly http: HttpAdapterHost,
    private readonly provider: IdentityProvider,
    private readonly login: PageLogin,
    private readonly clock: Clock,
    keys: ClusterKeys,
  ) {
    this.keys = keys.derive('logins');
  }

  onModuleInit(): void {
    if (this.provider.name === undefined) return;
    if (admitsAllOfGoogle(this.env)) {
      const hint =
        'anyone with a Google account gets the role of *; set MCP_AGGREGATOR_LOGIN_DOMAINS to your domains';
      this.logger.warn({ setting: 'MCP_AGGREGATOR_LOGIN_ROLES', hint }, 'oauth.login_open_to_all');
    }
    const fastify: FastifyInstance = this.http.httpAdapter.getInstance();
    const config = { access: 'public' } as const;
    const limit = fastify.createRateLimit({ ...LOGINS, keyGenerator: networkOf });
    fastify.get<{ Querystring: { to?: unknown } }>(LOGIN_PATH, { config }, (request, reply) =>
      this.answered(reply, async () => {
        await refuseExcess(limit, request);
        const to = ownPage(request.query.to);
        return isFromOtherSite(request) ? this.ask(to, reply) : this.begin(to, request, reply);
      }),
    );
    fastify.get(CALLBACK_PATH, { config }, (request, reply) =>
      this.answered(reply, async () => {
        await refuseExcess(limit, request);
        return this.finish(request, reply);
      }),
    );
  }

  private ask(to: string, reply: FastifyReply): FastifyReply {
    const { name = '' } = this.provider;
    return html(reply, 200, startPage(`${LOGIN_PATH}?to=${encodeURIComponent(to)}`, name));
  }

  private async begin(
    to: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const attempt = { secret: randomBytes(32).toString('base64url'), to };
    const address = await this.provider.begin(attempt, networkOf(request));
    const endsAt = this.clock.now().getTime() + MAX_AGE_S * 1_000;
    return reply
      .header('cache-control', 'no-store')
      .header('set-cookie', this.cookieWith(toCookie(attempt, endsAt, this.keys[0]), MAX_AGE_S))
      .redirect(address, 302);
  }

  private async finish(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const answer = new URLSearchParams(request.url.split('?')[1] ?? '');
    const attempt = this.attemptOf(request);
    if (!attempt || answer.get('state') !== proofsOf(attempt).state) {
      throw new LoginFailed(OVER, 400);
    }
    // Whatever follows, the answer was for this attempt alone.
    void reply.header('set-cookie', this.cookieWith('', 0));
    const claims = await this.claimsOf(attempt, answer, networkOf(request));
    const person = provedPerson(claims, this.env);
    if (!person) throw new LoginFailed(`${this.provider.name} gives you no usable name.`, 502);
    await this.login.logIn({ person }, request, reply);
    return html(reply, 200, hopPage(this.provider.publicUrl + attempt.to));
  }

  private async claimsOf(attempt: LoginAttempt, answer: URLSearchParams, network: string) {
    this.failed.refuseMore(network, this.clock.monotonic());
    try {
      return await this.provider.finish(attempt, answer, network);
    } catch (error) {
      if (error instanceof LoginFailed) this.failed.note(network, this.clock.monotonic());
      throw error;
    }
  }

  private async answered(
    reply: FastifyReply,
    answer: () => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    try {
      return await answer();
    } catch (error) {
      if (error instanceof LoginFailed) {
        if (error.status > 500) this.logger.warn({ err: error }, 'oauth.login_failed');
        return html(reply, error.status, problemPage(FAILED, error.message));
      }
      const status = error instanceof AppError ? STATUS.get(error.kind) : undefined;
      if (!(error instanceof AppError) || status === undefined) throw error;
      return html(reply, status, problemPage(FAILED, error.message));
    }
  }

  private get isTls(): boolean {
    return this.provider.publicUrl.startsWith('https:');
  }

  /** With this prefix no other host of the domain can set it; without TLS, every port of the host gets it. */
  private get cookieName(): string {
    return this.isTls ? `__Host-${COOKIE}` : `${COOKIE}_${new URL(this.provider.publicUrl).port}`;
  }

  /** Lax: the provider sends the browser back from another site. */
  private cookieWith(value: string, maxAge: number): string {
    const secure = this.isTls ? '; Secure' : '';
    return `${this.cookieName}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
  }

  private attemptOf({ headers }: FastifyRequest): LoginAttempt | undefined {
    const start = `${this.cookieName}=`;
    const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
    const value = cookies.find((cookie) => cookie.startsWith(start))?.slice(start.length);
    return fromCookie(value, this.clock.now().getTime(), this.keys);
  }
}

/** A page elsewhere must not log a person in and choose what follows. */
function isFromOtherSite({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}
