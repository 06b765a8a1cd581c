import { Body, Controller, Delete, Get, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiExcludeController } from '@nestjs/swagger';
import { Clock, Env, tokenScopes } from '@app/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LoginRefused, NotFromConsole } from '../access.errors.js';
import { addressOf, hasScope } from '../authenticate/principal.js';
import { PasswordStore } from '../passwords/password.store.js';
import { Public } from '../authorize/access.decorators.js';
import { clearedCookie, secureHostOf, sessionCookie } from './browser-session.js';
import { BrowserSessions, type LiveSession } from './browser-sessions.js';
import {
  type BrowserSessionView,
  credentialIn,
  LogInDto,
  type LoginWaysView,
} from './browser-sessions.dto.js';
import { FindViewSlug } from './find-view-slug.query.js';
import { LogIn } from './log-in.command.js';
import { LogOut } from './log-out.command.js';
import { isFromOwnPage } from './own-page.js';

const REMEMBERED_MS = 5_000;

/** For the pages of the console; programs send a token with each request. */
@Public()
@ApiExcludeController()
@Controller('console/session')
export class BrowserSessionsController {
  private asked: { readonly at: number; readonly answer: Promise<boolean> } | undefined;

  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly sessions: BrowserSessions,
    private readonly passwords: PasswordStore,
    private readonly env: Env,
    private readonly clock: Clock,
  ) {}

  @Post()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  async logIn(
    @Body() body: LogInDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BrowserSessionView> {
    if (!isFromOwnPage(request)) throw new NotFromConsole();
    const credential = credentialIn(body);
    // Before it is looked up in the rows, so that strangers who invent codes cause few statements.
    if (!('token' in credential)) await request.countFailure?.();
    try {
      const command = new LogIn(credential, addressOf(request));
      const { id, session } = await this.commands.execute(command);
      void reply.header('set-cookie', sessionCookie(id, this.placeOf(request)));
      return await this.toView(session);
    } catch (error) {
      if (error instanceof LoginRefused && 'token' in credential) await request.countFailure?.();
      throw error;
    }
  }

  @Get()
  @Header('cache-control', 'no-store')
  async getSession(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BrowserSessionView | undefined> {
    const session = await this.sessions.of(request);
    if (session) return this.toView(session);
    // Not 401: the page only asks whether there is a login, and browsers report a 401 as an error of the page.
    void reply.status(204);
    return undefined;
  }

  /** What the login page offers beside a token and a link. */
  @Get('ways')
  @Header('cache-control', 'no-store')
  async getWays(): Promise<LoginWaysView> {
    const { MCP_AGGREGATOR_LOGIN_ISSUER: issuer } = this.env;
    return {
      password: await this.passwordsExist(),
      provider: issuer === undefined ? null : new URL(issuer).host,
    };
  }

  @Delete()
  @HttpCode(204)
  async logOut(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    if (!isFromOwnPage(request)) throw new NotFromConsole();
    const session = await this.sessions.of(request);
    if (session) {
      const { name, subject } = session.principal;
      const actor = { name, subject, ip: addressOf(request) };
      await this.commands.execute(new LogOut(session.idHash, actor));
    }
    void reply.header('set-cookie', clearedCookie(this.placeOf(request)));
  }

  /** Asked without a login: one statement in five seconds, however many ask. */
  private passwordsExist(): Promise<boolean> {
    const now = this.clock.monotonic();
    if (this.asked && now - this.asked.at < REMEMBERED_MS) return this.asked.answer;
    const asked = { at: now, answer: this.passwords.exist() };
    this.asked = asked;
    asked.answer.catch(() => {
      if (this.asked === asked) this.asked = undefined;
    });
    return asked.answer;
  }

  /** A proxy that ends TLS may say so only to the browser, whose Origin says it to us. */
  private placeOf({ host, protocol, headers }: FastifyRequest) {
    const isTls = protocol === 'https' || /^https:/i.test(headers.origin ?? '');
    return { host, isTls, secureHost: secureHostOf(this.env) };
  }

  private async toView({ principal, label, expiresAt }: LiveSession): Promise<BrowserSessionView> {
    const { pinned } = principal;
    const view = pinned && (await this.queries.execute(new FindViewSlug(pinned.viewId)));
    return {
      name: label ?? principal.name,
      scopes: tokenScopes.filter((scope) => hasScope(principal, scope)),
      view: pinned ? (view?.slug ?? pinned.viewId) : null,
      expires_at: expiresAt.toISOString(),
    };
  }
}
