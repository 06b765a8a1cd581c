import { Body, Controller, Get, Header, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Actor, CurrentActor, PageLogin, personOf, Public, RequireScope } from '@app/access';
import { FollowsPolicy } from '@app/policy';
import { GetPersonalTemplate, type PersonalServer } from '@app/registry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import { ConnectPerson } from '../connect-person.command.js';
import { GiveCredentialsDto } from '../connections.dto.js';
import { type PersonCredential, PersonCredentialStore } from '../person-credential.store.js';
import { LinkUnknown } from '../persons.errors.js';
import { browserCookie } from './browser-secret.js';
import { CONNECT_PAGE, CONNECT_SCRIPT, CONNECT_STYLE, PAGE_POLICY } from './connect-page.js';
import { StartPersonalConsent } from './start-personal-consent.command.js';

/** What the page asks for. */
interface Linked extends PersonalServer {
  readonly row: PersonCredential;
}

/** The page where a person connects a server. The address is good for the person who called alone. */
@ApiExcludeController()
@Controller('connect')
@FollowsPolicy()
export class ConnectPageController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly store: PersonCredentialStore,
    private readonly logins: PageLogin,
  ) {}

  @Get('page.js')
  @Public()
  @Header('content-type', 'text/javascript; charset=utf-8')
  @Header('cache-control', 'no-cache')
  script(): string {
    return CONNECT_SCRIPT;
  }

  @Get('page.css')
  @Public()
  @Header('content-type', 'text/css; charset=utf-8')
  @Header('cache-control', 'no-cache')
  style(): string {
    return CONNECT_STYLE;
  }

  /** Also for addresses that do not exist: the page says nothing before a login. */
  @Get(':server/:link')
  @Public()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('cache-control', 'no-store')
  @Header('referrer-policy', 'no-referrer')
  @Header('content-security-policy', PAGE_POLICY)
  page(): string {
    return CONNECT_PAGE;
  }

  @Get(':server/:link/state')
  @RequireScope('call')
  @Header('cache-control', 'no-store')
  async state(
    @Param('server') name: string,
    @Param('link') link: string,
    @CurrentActor() actor: Actor,
    @Req() request: FastifyRequest,
  ): Promise<object> {
    const { server, template, row } = await this.linked(name, link, actor);
    // The name of someone of an identity provider is an id there.
    const session = await this.logins.session(request);
    const label = session?.principal.subject === row.subject ? session.label : undefined;
    return { server: server.name, person: label ?? row.person, fields: template.fields };
  }

  @Post(':server/:link/values')
  @HttpCode(204)
  @RequireScope('call')
  async giveValues(
    @Param('server') name: string,
    @Param('link') link: string,
    @Body() { values }: GiveCredentialsDto,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const { server } = await this.linked(name, link, actor);
    await this.commands.execute(new ConnectPerson(server.id, values, actor, link));
  }

  @Post(':server/:link/consent')
  @HttpCode(200)
  @RequireScope('call')
  @Header('cache-control', 'no-store')
  async startConsent(
    @Param('server') name: string,
    @Param('link') link: string,
    @CurrentActor() actor: Actor,
    @Req() { host, protocol, headers }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ authorization_url: string }> {
    const { server } = await this.linked(name, link, actor);
    const secret = randomBytes(32).toString('base64url');
    const command = new StartPersonalConsent(server.id, link, secret, actor);
    const url = await this.commands.execute(command);
    const isTls = protocol === 'https' || /^https:/i.test(headers.origin ?? '');
    const callback = new URL(url).searchParams.get('redirect_uri') ?? '';
    void reply.header('set-cookie', browserCookie(secret, { host, isTls, callback }));
    return { authorization_url: url };
  }

  /** Throws LinkUnknown, also for the link of another person. */
  private async linked(name: string, link: string, actor: Actor): Promise<Linked> {
    const row = /^[\w-]{32}$/.test(link) ? await this.store.linked(link) : undefined;
    if (row?.subject !== personOf(actor).subject) throw new LinkUnknown();
    const found = await this.queries.execute(new GetPersonalTemplate(row.serverId));
    if (found.server.name !== name || found.server.credentials !== 'per_user')
      throw new LinkUnknown();
    return { ...found, row };
  }
}
