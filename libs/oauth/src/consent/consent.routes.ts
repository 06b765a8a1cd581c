import { Injectable } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import {
  addressOf,
  FindViewSlug,
  LoginRefused,
  PageLogin,
  pastedCredential,
  personOf,
  type Principal,
} from '@app/access';
import { includesScope } from '@app/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { randomBytes, randomUUID } from 'node:crypto';
import { GiveClientGrant } from '../grants/give-client-grant.command.js';
import {
  AuthorizationServer,
  type ConsentRequest,
  COOKIES,
} from '../provider/authorization-server.js';
import { IdentityProvider, LOGIN_PATH } from '../identity/identity-provider.js';
import { ClientGrantStore } from '../rows/client-grant.store.js';
import { hashOf } from '../rows/record.store.js';
import {
  donePage,
  hopPage,
  html,
  loginPage,
  problemPage,
  type Question,
  questionPage,
} from './pages.js';
import { redirectTarget } from './redirect-target.js';

type Page = FastifyRequest<{ Params: { uid: string } }>;
type Person = NonNullable<Awaited<ReturnType<PageLogin['session']>>>;

interface Exchange {
  readonly request: Page;
  readonly reply: FastifyReply;
  readonly wasAsked: boolean;
}

/** For a request that was answered, has expired or is not of this browser. */
export const OVER = problemPage(
  'This request is over',
  'It was answered, has expired, or began in another browser. Connect again in the client.',
);

/** The pages where a person logs in and decides what a client may do. */
@Injectable()
export class ConsentRoutes {
  constructor(
    private readonly server: AuthorizationServer,
    private readonly login: PageLogin,
    private readonly grants: ClientGrantStore,
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly provider: IdentityProvider,
  ) {}

  add(fastify: FastifyInstance): void {
    const config = { access: 'public' } as const;
    const path = '/oauth/consent/:uid';
    fastify.get(path, { config }, (request: Page, reply) =>
      html(reply, 200, hopPage(`${pathOf(request)}/ask`)),
    );
    fastify.get(`${path}/ask`, { config }, (request: Page, reply) => this.ask(request, reply));
    fastify.post(`${path}/login`, { config }, (request: Page, reply) => this.logIn(request, reply));
    fastify.post(`${path}/decide`, { config }, (request: Page, reply) =>
      this.decide(request, reply),
    );
  }

  private async ask(request: Page, reply: FastifyReply): Promise<FastifyReply> {
    const asked = await this.requestOf(request);
    if (!asked) return html(reply, 400, OVER);
    const person = await this.login.session(request);
    if (!person) return html(reply, 200, this.loginPageOf(asked));
    const question = await this.questionOf(asked, person);
    if (question.scopes.length === 0) {
      const text = `${person.principal.name} has none of the rights that the client asks for.`;
      return html(reply, 403, problemPage('Nothing to allow', text));
    }
    if (await this.isDecided(asked, person, question)) {
      return this.give(asked, person, question, { request, reply, wasAsked: false });
    }
    return html(reply, 200, questionPage(question));
  }

  private async logIn(request: Page, reply: FastifyReply): Promise<FastifyReply> {
    this.login.refuseForeignForm(request);
    const asked = await this.requestOf(request);
    if (!asked) return html(reply, 400, OVER);
    try {
      await this.login.logIn(credentialOf(request), request, reply);
    } catch (error) {
      if (!(error instanceof LoginRefused)) throw error;
      return html(reply, 401, this.loginPageOf(asked, error.message));
    }
    return reply.header('cache-control', 'no-store').redirect(`${pathOf(request)}/ask`, 303);
  }

  private loginPageOf(asked: ConsentRequest, problem?: string): string {
    const { name } = this.provider;
    const to = encodeURIComponent(`${askingOf(asked).path}/ask`);
    const provider = name === undefined ? undefined : { name, href: `${LOGIN_PATH}?to=${to}` };
    return loginPage(askingOf(asked), problem, provider);
  }

  private async decide(request: Page, reply: FastifyReply): Promise<FastifyReply> {
    this.login.refuseForeignForm(request);
    const asked = await this.requestOf(request);
    const person = await this.login.session(request);
    if (!asked || !person) return html(reply, 400, OVER);
    if (fieldOf(request, 'decision') !== 'allow') {
      const to = await this.server.deny(asked.uid, this.prove(reply));
      return html(reply, 200, donePage(to, redirectTarget(asked.redirectUri).name));
    }
    const question = await this.questionOf(asked, person);
    if (question.scopes.length === 0) return html(reply, 400, OVER);
    if (fieldOf(request, 'shown') !== question.shown) {
      return html(reply, 200, questionPage(question, true));
    }
    return this.give(asked, person, question, { request, reply, wasAsked: true });
  }

  private async give(
    asked: ConsentRequest,
    { account, principal }: Person,
    { scopes, redirectHost }: Question,
    { request, reply, wasAsked }: Exchange,
  ): Promise<FastifyReply> {
    const { client, resource } = asked;
    const id = randomUUID();
    const grant = {
      id,
      account,
      person: principal.name,
      client: { ...client, redirectHost },
      scopes,
      resource,
    };
    const actor = { ...personOf(principal), ip: addressOf(request) };
    await this.commands.execute(new GiveClientGrant(grant, actor, wasAsked));
    const given = { grantId: id, account, scopes };
    const to = await this.server.allow(asked, given, this.prove(reply));
    return html(reply, 200, donePage(to, redirectHost));
  }

  /**
   * Only this browser may finish the request: a site of the same domain can give a browser the cookie of a request that
   * another one began, but not read this one.
   */
  private prove(reply: FastifyReply): string {
    const proof = randomBytes(32).toString('base64url');
    const secure = this.server.isTls ? '; Secure' : '';
    const cookie = `${this.server.proofCookie}=${proof}; Path=/; Max-Age=600; HttpOnly; SameSite=Lax${secure}`;
    void reply.header('set-cookie', cookie);
    return hashOf(proof);
  }

  /** The request that this browser began. */
  private async requestOf(request: Page): Promise<ConsentRequest | undefined> {
    const { uid } = request.params;
    const isOwn = cookiesOf(request).includes(`${COOKIES.interaction}=${uid}`);
    return isOwn ? this.server.consentRequest(uid) : undefined;
  }

  private async isDecided(
    { client, redirectUri, resource, mustAsk }: ConsentRequest,
    { account }: Person,
    { scopes, missing, redirectHost }: Question,
  ): Promise<boolean> {
    if (mustAsk || missing.length > 0 || !redirectTarget(redirectUri).isProof) return false;
    return this.grants.isCovered({
      account,
      client: { id: client.id, redirectHost },
      scopes,
      resource,
    });
  }

  private async questionOf(
    asked: ConsentRequest,
    { account, principal, label }: Person,
  ): Promise<Question> {
    const may = (scope: ConsentRequest['scopes'][number]): boolean =>
      includesScope(principal.scopes, scope);
    const question = {
      ...askingOf(asked),
      person: label ?? principal.name,
      scopes: asked.scopes.filter(may),
      missing: asked.scopes.filter((scope) => !may(scope)),
      resource: asked.resource,
      view: await this.viewOf(principal),
    };
    return { ...question, shown: hashOf(JSON.stringify([account, asked.redirectUri, question])) };
  }

  private async viewOf({ pinned }: Principal): Promise<string | undefined> {
    if (!pinned) return undefined;
    const { slug } = await this.queries.execute(new FindViewSlug(pinned.viewId));
    return slug ?? pinned.viewId;
  }
}

function askingOf({ uid, client, redirectUri }: ConsentRequest) {
  const { name, isProof } = redirectTarget(redirectUri);
  return { path: `/oauth/consent/${uid}`, client, redirectHost: name, isProof };
}

function pathOf({ params }: Page): string {
  return `/oauth/consent/${encodeURIComponent(params.uid)}`;
}

function cookiesOf({ headers }: FastifyRequest): readonly string[] {
  return (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
}

function credentialOf(request: FastifyRequest) {
  const name = fieldOf(request, 'name');
  if (name !== '') return { name, password: fieldOf(request, 'password') };
  return pastedCredential(fieldOf(request, 'credential'));
}

export function fieldOf({ body }: FastifyRequest, name: string): string {
  return body instanceof URLSearchParams ? (body.get(name) ?? '') : '';
}
