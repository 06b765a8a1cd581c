import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { MCP_ROUTES } from '@app/access';
import { Env, isJsonObject, oauthIssuer } from '@app/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientText } from './consent/client-text.js';
import { ConsentRoutes, OVER } from './consent/consent.routes.js';
import { PasswordRoutes } from './consent/password.routes.js';
import { problemPage, refusedPage } from './consent/pages.js';
import { redirectTarget } from './consent/redirect-target.js';
import { type Limiter, networkOf, refuseExcess } from './request-limits.js';
import { LiveGrants } from './grants/live-grants.js';
import { AuthorizationServer, type PlainAnswer } from './provider/authorization-server.js';
import { cleanParameters, cleanRegistration, MAX_STATE_CHARS } from './provider/client-requests.js';
import { serverMetadata } from './provider/server-metadata.js';
import { SigningKeys } from './keys/signing-keys.js';

const config = { access: 'public', bodyLimit: 32_768 } as const;
/** Clients that run in a browser, such as MCP Inspector, ask from their own origin; cookies do not count here. */
const CORS = { origin: '*', methods: ['GET', 'POST'], exposedHeaders: ['retry-after'] };
const openConfig = { ...config, isForAnyOrigin: true, cors: CORS } as const;
const REFUSED = 'This client cannot be connected';
const MAX_HOST_CHARS = 255;
const FORM = 'application/x-www-form-urlencoded';
/** By address; people behind one proxy share it. */
const REGISTRATIONS = { max: 60, timeWindow: 600_000 };
/** Each may fetch the metadata of a client. */
const AUTHORIZATIONS = { max: 120, timeWindow: 60_000 };
/** Refreshes of many people come from the same few addresses of a hosted client. */
const TOKENS = { max: 1_200, timeWindow: 60_000 };

/** The endpoints of OAuth at the root of the service; none are added when it is off. */
@Injectable()
export class OAuthRoutes implements OnModuleInit {
  constructor(
    private readonly env: Env,
    private readonly http: HttpAdapterHost,
    private readonly server: AuthorizationServer,
    private readonly keys: SigningKeys,
    private readonly consent: ConsentRoutes,
    private readonly passwords: PasswordRoutes,
    private readonly grants: LiveGrants,
  ) {}

  async onModuleInit(): Promise<void> {
    const issuer = oauthIssuer(this.env);
    if (issuer === undefined) return;
    const fastify: FastifyInstance = this.http.httpAdapter.getInstance();
    const keyGenerator = networkOf;
    const limit = (limits: object) => fastify.createRateLimit({ ...limits, keyGenerator });
    // Forms are read here only. Not awaited: that would load the plugin before Nest sets its error handler.
    void fastify.register(async (scope) => {
      scope.addContentTypeParser(FORM, { parseAs: 'string' }, (_request, body, done) =>
        done(null, new URLSearchParams(String(body))),
      );
      openToPages(scope);
      this.addMetadata(scope, issuer);
      this.consent.add(scope);
      this.passwords.add(scope);
      this.addAuthorize(scope, issuer, limit(AUTHORIZATIONS));
      this.addForms(scope, issuer, limit(TOKENS));
      this.addRegister(scope, limit(REGISTRATIONS));
    });
    await this.grants.reload();
  }

  private addMetadata(fastify: FastifyInstance, issuer: string): void {
    const readsDocuments = this.env.MCP_AGGREGATOR_OAUTH_CLIENT_DOCUMENTS;
    const metadata = serverMetadata(issuer, readsDocuments);
    const send = async (_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
      reply.header('cache-control', 'public, max-age=300').send(metadata);
    for (const document of ['oauth-authorization-server', 'openid-configuration']) {
      fastify.get(`/.well-known/${document}`, { config: openConfig }, send);
      // Some clients take the address of an endpoint for the issuer.
      for (const route of MCP_ROUTES) {
        fastify.get(`/.well-known/${document}/${route}`, { config: openConfig }, send);
      }
    }
    fastify.get('/jwks', { config: openConfig }, async (_request, reply) =>
      reply.send({ keys: await this.keys.publicKeys() }),
    );
  }

  private addAuthorize(fastify: FastifyInstance, issuer: string, limit: Limiter): void {
    fastify.get('/authorize', { config }, async (request, reply) => {
      await refuseExcess(limit, request);
      const query = cleanParameters('authorize', queryOf(request.url), issuer);
      if ((query.get('state')?.length ?? 0) > MAX_STATE_CHARS) {
        const text = `Its state is longer than ${MAX_STATE_CHARS} characters.`;
        return reply.status(400).type('text/html; charset=utf-8').send(problemPage(REFUSED, text));
      }
      const answer = await this.server.answer({
        method: 'GET',
        url: `/authorize?${query.toString()}`,
        headers: cookiesOf(request),
        address: networkOf(request),
      });
      const { location } = answer;
      // No person decided yet: anyone could make this service lead a person on to any address (RFC 9700 §4.11.2).
      const leavesService =
        location !== undefined && new URL(location, issuer).origin !== new URL(issuer).origin;
      if (leavesService) return refuseForPerson(location, reply);
      return this.toBrowser(answer, reply, this.adviceOn(query.get('client_id') ?? ''));
    });
    fastify.get<{ Params: { uid: string } }>(
      '/authorize/:uid',
      { config },
      async (request, reply) => {
        const { uid } = request.params;
        if (!(await this.server.mayResume(uid, proofsIn(request, this.server.proofCookie)))) {
          return reply.status(400).type('text/html; charset=utf-8').send(OVER);
        }
        const url = `/authorize/${encodeURIComponent(uid)}`;
        const [headers, address] = [cookiesOf(request), networkOf(request)];
        const answer = await this.server.answer({ method: 'GET', url, headers, address });
        return this.toBrowser(answer, reply);
      },
    );
  }

  private addForms(fastify: FastifyInstance, issuer: string, limit: Limiter): void {
    for (const endpoint of ['token', 'revoke'] as const) {
      fastify.post(`/${endpoint}`, { config: openConfig }, async (request, reply) => {
        await refuseExcess(limit, request);
        const { body } = request;
        if (!(body instanceof URLSearchParams)) {
          return refuse(reply, 'invalid_request', `the body has to be ${FORM}`);
        }
        const clean = cleanParameters(endpoint, body, issuer);
        const [refreshToken, resource] = [clean.get('refresh_token'), clean.get('resource')];
        if (refreshToken !== null && resource !== null) {
          const isFor = await this.server.isFor(refreshToken, resource);
          if (!isFor) return refuse(reply, 'invalid_target', 'the token is for another resource');
        }
        const answer = await this.server.answer({
          method: 'POST',
          url: `/${endpoint}`,
          headers: { 'content-type': FORM },
          address: networkOf(request),
          body: clean.toString(),
        });
        return toClient(answer, reply);
      });
    }
  }

  private addRegister(fastify: FastifyInstance, limit: Limiter): void {
    fastify.post('/register', { config: openConfig }, async (request, reply) => {
      await refuseExcess(limit, request);
      const registration = cleanRegistration(request.body);
      if (!registration.client) {
        return refuse(reply, registration.error, registration.problem);
      }
      const answer = await this.server.answer({
        method: 'POST',
        url: '/register',
        headers: { 'content-type': 'application/json' },
        address: networkOf(request),
        body: JSON.stringify(registration.client),
      });
      return toClient(answer, reply);
    });
  }

  /** Redirects, or shows what is wrong with a request that no client may get the answer to. */
  private toBrowser(answer: PlainAnswer, reply: FastifyReply, advice = ''): FastifyReply {
    void reply.header('cache-control', 'no-store');
    if (answer.cookies.length > 0) void reply.header('set-cookie', [...answer.cookies]);
    if (answer.location !== undefined) return reply.redirect(answer.location, answer.status);
    const problem = problemIn(answer.text);
    const isUnknown = problem.startsWith('invalid_client');
    return reply
      .status(answer.status)
      .type('text/html; charset=utf-8')
      .send(problemPage(REFUSED, isUnknown ? `${problem}${advice}` : problem));
  }

  /** What to do about a client that is named by a document which this service cannot read. */
  private adviceOn(clientId: string): string {
    if (!clientId.startsWith('https://') || !URL.canParse(clientId)) return '';
    if (!this.env.MCP_AGGREGATOR_OAUTH_CLIENT_DOCUMENTS) {
      return '. This service reads no metadata of clients: remove it from the client and add it again, so that the client registers.';
    }
    return `. Operators of this service find the reason in its log (oauth.document_refused). If it has no access to ${clientText(new URL(clientId).host, MAX_HOST_CHARS)}, set MCP_AGGREGATOR_OAUTH_CLIENT_DOCUMENTS=false, so that clients register instead.`;
  }
}

/** Answers pages of any origin at the routes that are for them. */
function openToPages(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', ({ url, method, config: given }) => {
    if (given?.isForAnyOrigin !== true || method === 'OPTIONS' || method === 'HEAD') return;
    fastify.options(url, { config: openConfig }, async (_request, reply) =>
      reply
        .status(204)
        .headers({
          'access-control-allow-methods': CORS.methods.join(', '),
          'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
          'access-control-max-age': '600',
        })
        .send(),
    );
  });
  fastify.addHook('onSend', async ({ routeOptions }, reply) => {
    if (routeOptions.config.isForAnyOrigin !== true) return;
    void reply.headers({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': CORS.exposedHeaders.join(', '),
    });
  });
}

/** Tells the person what is wrong, who may then follow the link to the client. */
function refuseForPerson(location: string, reply: FastifyReply): FastifyReply {
  const { searchParams, hash } = new URL(location);
  const answer = searchParams.has('error') ? searchParams : new URLSearchParams(hash.slice(1));
  const parts = [answer.get('error'), answer.get('error_description')];
  const problem = parts.filter((one) => one !== null).join(': ');
  return reply
    .status(400)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(refusedPage(problem, location, redirectTarget(location).name));
}

function toClient(answer: PlainAnswer, reply: FastifyReply): FastifyReply {
  void reply.header('cache-control', 'no-store');
  if (answer.wwwAuthenticate !== undefined) {
    void reply.header('www-authenticate', answer.wwwAuthenticate);
  }
  return reply.status(answer.status).type('application/json').send(answer.text);
}

function refuse(reply: FastifyReply, error: string, description: string): FastifyReply {
  return reply.status(400).send({ error, error_description: description });
}

function problemIn(text: string): string {
  const fallback = 'Its request was refused.';
  try {
    const body: unknown = JSON.parse(text);
    if (!isJsonObject(body)) return fallback;
    const { error, error_description: description } = body;
    return [error, description].filter((one) => typeof one === 'string').join(': ') || fallback;
  } catch {
    return fallback;
  }
}

function queryOf(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
}

function cookieList({ headers }: FastifyRequest): readonly string[] {
  return (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
}

function proofsIn(request: FastifyRequest, name: string): readonly string[] {
  const start = `${name}=`;
  const own = cookieList(request).filter((cookie) => cookie.startsWith(start));
  return own.map((cookie) => cookie.slice(start.length));
}

/** Only those of the request in progress. */
function cookiesOf(request: FastifyRequest): Record<string, string> {
  const own = cookieList(request).filter((cookie) =>
    /^switchboard_oauth(_resume)?=[\w-]{1,100}$/.test(cookie),
  );
  return own.length === 0 ? {} : { cookie: own.join('; ') };
}
