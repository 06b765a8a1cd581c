import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { Env } from '@app/platform';
import type { AccessRule } from './access.decorators.js';
import {
  RateLimited,
  RouteWithoutAccessRule,
  ScopeMissing,
  Unauthorized,
} from './access.errors.js';
import { Authenticator, isDocsRoute } from './authenticator.js';
import { addressOf, ANONYMOUS, hasScope, type Principal } from './principal.js';
import { RefusalLog } from './refusal-log.js';
import { type OriginRules, originRules, refuseForeign } from './request-origin.js';
import { Tokens } from './tokens.js';

const MINUTE_MS = 60_000;
const MAX_FAILURES_A_MINUTE = 30;
/** Callers whose counts are kept; the one that was quiet longest is forgotten first. */
const MAX_COUNTED = 10_000;

type Limiter = ReturnType<FastifyInstance['createRateLimit']>;
/** Fastify waits for a promise, or for `done`. */
type Admission = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void | Promise<void>;

/**
 * Decides on every request before its body is read: where it comes from, who sent it, how often, and
 * whether they may. It hooks into Fastify and is no Nest guard, because a guard sees neither the
 * routes of plugins nor unknown ones, and runs after the body was parsed.
 */
@Injectable()
export class AccessControl {
  private readonly origins: OriginRules;

  constructor(
    private readonly env: Env,
    private readonly authenticator: Authenticator,
    private readonly refusals: RefusalLog,
    private readonly tokens: Tokens,
  ) {
    this.origins = originRules(env);
  }

  /** To be called before any route is added. */
  async install(fastify: FastifyInstance): Promise<void> {
    await this.tokens.load();
    fastify.decorateRequest('principal');
    await fastify.register(rateLimit, { global: false, cache: MAX_COUNTED });
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

    const admitFor =
      (rule: AccessRule): Admission =>
      (request, _reply, done) => {
        const waiting = this.admit(request, rule, failures, calls);
        if (!waiting) done();
        return waiting;
      };
    // A hook for each route, which knows its rule: asking a request for its route makes a whole description of it.
    fastify.addHook('onRoute', (route) => {
      const rule = ruleOf(route);
      route.config = { ...route.config, access: rule };
      route.onRequest = [admitFor(rule), ...[route.onRequest ?? []].flat()];
    });
    // A path that is no route is nobody's secret, but its body is not read for strangers either.
    const admitAnywhere = admitFor('read');
    fastify.addHook('onRequest', (request, reply, done) =>
      request.is404 ? admitAnywhere(request, reply, done) : done(),
    );
    // Those of the handlers are recorded as well: all of them are answered by Fastify.
    fastify.addHook('onSend', (request, reply, payload, done) => {
      const status = reply.statusCode;
      if (status === 401 || status === 403 || status === 429) this.record(request, status);
      done(null, payload);
    });
  }

  /** Returns only what has to be waited for: a known token under no limit is let in at once. */
  private admit(
    request: FastifyRequest,
    rule: AccessRule,
    failures: Limiter,
    calls: Limiter | undefined,
  ): Promise<void> | undefined {
    this.checkOrigin(request, rule);
    const principal = rule === 'public' ? undefined : this.identify(request, failures);
    if (!(principal instanceof Promise) && !calls) {
      this.letIn(request, rule, principal);
      return undefined;
    }
    return Promise.resolve(principal).then(async (identified) => {
      if (identified) request.principal = identified;
      if (calls) await refuseExcess(calls, request);
      this.letIn(request, rule, identified);
    });
  }

  private letIn(request: FastifyRequest, rule: AccessRule, principal: Principal | undefined): void {
    if (rule === 'public') return;
    if (!principal) throw this.authenticator.refusal(request);
    request.principal = principal;
    if (!hasScope(principal, rule)) throw new ScopeMissing(rule);
  }

  private checkOrigin(request: FastifyRequest, rule: AccessRule): void {
    const { host, origin } = request.headers;
    refuseForeign(
      { host, origin, forwardedHost: request.host, isPublicRoute: rule === 'public' },
      this.origins,
    );
  }

  /**
   * Wrong tokens are limited by address, so that guessing is slow and cheap to refuse. A right one is
   * never refused for the wrong ones of others: behind a proxy or on a laptop all share an address.
   */
  private identify(
    request: FastifyRequest,
    failures: Limiter,
  ): Principal | undefined | Promise<Principal> {
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
      actor: { name: request.principal?.name ?? ANONYMOUS, ip: addressOf(request) },
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

/** Two kinds of names that cannot be mistaken for one another. */
function callerOf(request: FastifyRequest): string {
  return request.principal ? `name ${request.principal.name}` : `ip ${networkOf(request)}`;
}

/** One household or machine has a whole /64 of IPv6. */
function networkOf(request: FastifyRequest): string {
  return normalizeIP(addressOf(request) ?? '');
}

/** Routes of the API documentation and of CORS come from libraries, which cannot say who may call them. */
function ruleOf(route: RouteOptions): AccessRule {
  const rule = (route.config as { access?: AccessRule } | undefined)?.access;
  if (rule) return rule;
  if (isDocsRoute(route.url) || (route.method === 'OPTIONS' && route.url === '*')) return 'read';
  throw new RouteWithoutAccessRule(`${String(route.method)} ${route.url}`);
}
