import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { Env, passIn, Passes, PassMisdirected } from '@app/platform';
import { type AccessRule, actorOf } from './access.decorators.js';
import {
  RateLimited,
  RouteWithoutAccessRule,
  ScopeMissing,
  Unauthorized,
} from '../access.errors.js';
import { Authenticator, isDocsRoute } from '../authenticate/authenticator.js';
import { addressOf, hasScope, type Principal } from '../authenticate/principal.js';
import { RefusalLog } from '../audit/refusal-log.js';
import { Challenges } from './challenges.js';
import { EntryTurns } from './entry-turns.js';
import { RequestCounts } from './request-counts.js';
import { type OriginRules, originRules, refuseForeign } from './request-origin.js';
import { Tokens } from '../authenticate/tokens.js';

const MINUTE_MS = 60_000;
const MAX_FAILURES_A_MINUTE = 30;

type Limiter = ReturnType<FastifyInstance['createRateLimit']>;
/** An `onRequest` hook: Fastify waits for the promise, or for `done`. */
type Admission = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void | Promise<void>;

/**
 * Checks origin, credentials, rate limit and scope of every request before its body is read. A Fastify
 * hook, not a Nest guard: a guard does not run for routes of plugins or unknown paths, and runs after
 * the body was parsed.
 */
@Injectable()
export class AccessControl {
  private readonly origins: OriginRules;
  private readonly turns = new EntryTurns();

  constructor(
    private readonly env: Env,
    private readonly authenticator: Authenticator,
    private readonly refusals: RefusalLog,
    private readonly tokens: Tokens,
    private readonly passes: Passes,
    private readonly challenges: Challenges,
  ) {
    this.origins = originRules(env);
  }

  /** Must be called before any route is added. */
  async install(fastify: FastifyInstance): Promise<void> {
    await this.tokens.load();
    fastify.decorateRequest('principal');
    fastify.decorateRequest('passedBy');
    await fastify.register(rateLimit, { global: false, store: RequestCounts });
    const failures = fastify.createRateLimit({
      max: MAX_FAILURES_A_MINUTE,
      timeWindow: MINUTE_MS,
      keyGenerator: networkOf,
    });
    const { MCP_AGGREGATOR_RATE_LIMIT: max } = this.env;
    const calls =
      max === 0
        ? undefined
        : fastify.createRateLimit({ max, timeWindow: MINUTE_MS, keyGenerator: callerOf });

    fastify.decorateRequest('countMore', function (this: FastifyRequest, more: number) {
      return calls && more > 0 ? countEach(calls, this, more) : undefined;
    });
    fastify.decorateRequest('countFailure', function (this: FastifyRequest) {
      return refuseExcess(failures, this);
    });
    const admitFor =
      (rule: AccessRule, counted: Limiter | undefined): Admission =>
      (request, _reply, done) => {
        const waiting = this.admit(request, rule, failures, counted);
        if (!waiting) done();
        return waiting;
      };
    // One hook per route, with its rule: `request.routeOptions` builds an object on every access.
    fastify.addHook('onRoute', (route) => {
      const rule = ruleOf(route);
      route.config = { ...route.config, access: rule };
      const counted = route.config.isUncounted ? undefined : calls;
      route.onRequest = [admitFor(rule, counted), ...[route.onRequest ?? []].flat()];
    });
    // Unknown paths need a token too, so that the body of an unauthenticated request is never read.
    const admitAnywhere = admitFor('read', calls);
    fastify.addHook('onRequest', (request, reply, done) =>
      request.is404 ? admitAnywhere(request, reply, done) : done(),
    );
    // In onSend, so that refusals by handlers are recorded too.
    fastify.addHook('onSend', (request, reply, payload, done) => {
      const status = reply.statusCode;
      if (status === 401 || status === 403 || status === 429) this.record(request, status);
      done(null, payload);
    });
  }

  /** Returns a promise only if there is something to wait for: a known token without a rate limit has nothing. */
  private admit(
    request: FastifyRequest,
    rule: AccessRule,
    failures: Limiter,
    calls: Limiter | undefined,
  ): Promise<void> | undefined {
    const pass = passIn(request.headers.authorization);
    if (pass !== undefined) return this.admitPassed(pass, request, rule, failures);
    this.checkOrigin(request, rule);
    const principal = rule === 'public' ? undefined : this.identify(request, failures);
    if (!(principal instanceof Promise) && !calls) {
      this.authorize(request, rule, principal);
      return principal && this.turns.enter(callerIn(principal));
    }
    return Promise.resolve(principal).then(async (identified) => {
      if (identified) request.principal = identified;
      if (calls) await refuseExcess(calls, request);
      this.authorize(request, rule, identified);
      if (identified) return this.turns.enter(callerIn(identified));
      return undefined;
    });
  }

  /** Its sender was authenticated and counted by the replica that passed it on. */
  private admitPassed(
    pass: string,
    request: FastifyRequest,
    rule: AccessRule,
    failures: Limiter,
  ): Promise<void> | undefined {
    try {
      const passed = this.passes.redeem(pass, request.method, request.url);
      request.passedBy = { ip: passed.ip };
      request.id = passed.requestId;
      this.authenticator.keepPassed(request, passed.principal);
      this.authorize(request, rule, passed.principal);
      return this.turns.enter(callerIn(passed.principal));
    } catch (error) {
      if (error instanceof ScopeMissing || error instanceof PassMisdirected) throw error;
      return refuseExcess(failures, request).then(() => {
        throw this.authenticator.refusal(request, 'invalid_token');
      });
    }
  }

  private authorize(
    request: FastifyRequest,
    rule: AccessRule,
    principal: Principal | undefined,
  ): void {
    if (rule === 'public') return;
    if (!principal) throw this.authenticator.refusal(request);
    request.principal = principal;
    if (!hasScope(principal, rule)) throw this.challenges.scopeMissing(request, rule);
  }

  private checkOrigin(request: FastifyRequest, rule: AccessRule): void {
    const { host, origin: sent } = request.headers;
    const isForAny = sent !== undefined && request.routeOptions.config.isForAnyOrigin === true;
    const origin = isForAny ? undefined : sent;
    refuseForeign(
      { host, origin, forwardedHost: request.host, isPublicRoute: rule === 'public' },
      this.origins,
    );
  }

  /**
   * Wrong tokens are rate-limited by address. A valid token is never refused because of wrong ones from
   * the same address, which clients share behind a proxy.
   */
  private identify(
    request: FastifyRequest,
    failures: Limiter,
  ): Principal | undefined | Promise<Principal | undefined> {
    const refuse = async (error: unknown): Promise<never> => {
      if (error instanceof Unauthorized) await refuseExcess(failures, request);
      throw error;
    };
    try {
      const principal = this.authenticator.authenticate(request);
      return principal instanceof Promise ? principal.catch(refuse) : principal;
    } catch (error) {
      return refuse(error);
    }
  }

  private record(request: FastifyRequest, status: number): void {
    this.refusals.note({
      actor: actorOf(request),
      method: request.method,
      route: request.routeOptions.url ?? '(no such route)',
      status,
    });
  }
}

async function refuseExcess(limit: Limiter, request: FastifyRequest): Promise<void> {
  const count = await limit(request);
  if (!count.isAllowed && count.isExceeded) throw new RateLimited(count.ttlInSeconds);
}

async function countEach(limit: Limiter, request: FastifyRequest, calls: number): Promise<void> {
  for (let left = calls; left > 0; left--) await refuseExcess(limit, request);
}

/** The prefix keeps callers and addresses apart. */
function callerOf(request: FastifyRequest): string {
  return request.principal ? `caller ${callerIn(request.principal)}` : `ip ${networkOf(request)}`;
}

/** Not by name alone: replicas whose settings differ for a while pass on requests of two people of one name. */
function callerIn({ subject, name }: Principal): string {
  return subject ?? name;
}

/** IPv6 addresses count by /64: one machine may use all of them. */
function networkOf(request: FastifyRequest): string {
  return normalizeIP(addressOf(request) ?? '');
}

/** Routes of the API documentation and of CORS are added by libraries and have no rule of their own. */
function ruleOf(route: RouteOptions): AccessRule {
  const rule = route.config?.access;
  if (rule) return rule;
  if (isDocsRoute(route.url) || (route.method === 'OPTIONS' && route.url === '*')) return 'read';
  throw new RouteWithoutAccessRule(`${String(route.method)} ${route.url}`);
}
