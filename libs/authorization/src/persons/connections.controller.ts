import { Body, Controller, Delete, Get, Header, HttpCode, Param, Post, Put } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import {
  type Actor,
  CurrentActor,
  CurrentPrincipal,
  personOf,
  type Principal,
  RequireScope,
} from '@app/access';
import { ApiErrors, BodyLimit } from '@app/platform';
import { FollowsPolicy, OfferedServers } from '@app/policy';
import {
  GetPersonalTemplate,
  GetServer,
  ListPersonalServers,
  ServerIdPipe,
  ServerNotFound,
} from '@app/registry';
import { ConnectPerson } from './connect-person.command.js';
import {
  ConnectionListView,
  ConnectionView,
  ConnectLinkView,
  GiveCredentialsDto,
  PersonConnectionListView,
  toConnectionView,
  toPersonConnectionView,
} from './connections.dto.js';
import { EndConnection } from './end-connection.command.js';
import { PersonCredentials } from './person-credentials.js';
import { PersonCredentialStore } from './person-credential.store.js';
import { ConnectionNotFound, CredentialsShared, NoConnectPage } from './persons.errors.js';

/**
 * What the caller uses servers with that take credentials of each person. Only servers that are offered to the caller;
 * but what was given can always be ended.
 */
@ApiTags('connections')
@ApiBearerAuth()
@Controller('api/v1/me/connections')
@FollowsPolicy()
export class ConnectionsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly store: PersonCredentialStore,
    private readonly credentials: PersonCredentials,
    private readonly offered: OfferedServers,
  ) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'List the servers that the caller connects with own credentials' })
  @ApiOkResponse({ type: ConnectionListView })
  @ApiErrors()
  async listConnections(
    @CurrentActor() actor: Actor,
    @CurrentPrincipal() principal: Principal,
  ): Promise<ConnectionListView> {
    const [servers, rows] = await Promise.all([
      this.queries.execute(new ListPersonalServers()),
      this.store.ofPerson(personOf(actor).subject),
    ]);
    const byServer = new Map(rows.map((row) => [row.serverId, row]));
    const shown = servers.filter(
      ({ server }) =>
        byServer.get(server.id)?.isGiven === true || this.offered.has(principal, server.id),
    );
    return {
      connections: shown.map((one) => toConnectionView(one, byServer.get(one.server.id))),
    };
  }

  @Put(':id')
  @RequireScope('call')
  @BodyLimit('long')
  @ApiOperation({ summary: 'Give the own credentials for a server, instead of earlier ones' })
  @ApiOkResponse({ type: ConnectionView })
  @ApiErrors(400, 404, 409, 413, 422)
  async giveCredentials(
    @Param('id', ServerIdPipe) id: string,
    @Body() { values }: GiveCredentialsDto,
    @CurrentActor() actor: Actor,
    @CurrentPrincipal() principal: Principal,
  ): Promise<ConnectionView> {
    this.refuseUnlessOffered(principal, id);
    await this.commands.execute(new ConnectPerson(id, values, actor));
    const [server, rows] = await Promise.all([
      this.queries.execute(new GetPersonalTemplate(id)),
      this.store.ofPerson(personOf(actor).subject),
    ]);
    return toConnectionView(
      server,
      rows.find((row) => row.serverId === id),
    );
  }

  @Post(':id/link')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @RequireScope('call')
  @ApiOperation({ summary: 'Get the address where the caller connects a server, also again' })
  @ApiOkResponse({ type: ConnectLinkView })
  @ApiErrors(404, 409)
  async makeConnectLink(
    @Param('id', ServerIdPipe) id: string,
    @CurrentActor() actor: Actor,
    @CurrentPrincipal() principal: Principal,
  ): Promise<ConnectLinkView> {
    this.refuseUnlessOffered(principal, id);
    const server = await this.queries.execute(new GetServer(id));
    if (server.credentials !== 'per_user') throw new CredentialsShared(server.name);
    const link = await this.credentials.link(id, personOf(actor), server.name);
    if (!link) throw new NoConnectPage(id);
    return { url: link.url, expires_at: link.until.toISOString() };
  }

  @Post(':id/expire')
  @HttpCode(204)
  @RequireScope('call')
  @ApiOperation({ summary: 'Delete the own credentials for a server, to be given again' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async expireOwnConnection(
    @Param('id', ServerIdPipe) id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const { subject } = personOf(actor);
    await this.commands.execute(new EndConnection(id, subject, 'expire', actor));
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('call')
  @ApiOperation({ summary: 'Delete the own credentials for a server' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async endOwnConnection(
    @Param('id', ServerIdPipe) id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const { subject } = personOf(actor);
    await this.commands.execute(new EndConnection(id, subject, 'disconnect', actor));
  }

  /** A server that is not offered does not exist for the caller. */
  private refuseUnlessOffered(principal: Principal, id: string): void {
    if (!this.offered.has(principal, id)) throw new ServerNotFound(id);
  }
}

/** The same of all people, for admins, who see no credentials. */
@ApiTags('connections')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers/:id/connections')
@RequireScope('admin')
export class PersonConnectionsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly store: PersonCredentialStore,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List the people who have connected a server' })
  @ApiOkResponse({ type: PersonConnectionListView })
  @ApiErrors(404)
  async listPeople(@Param('id', ServerIdPipe) id: string): Promise<PersonConnectionListView> {
    await this.queries.execute(new GetServer(id));
    return { connections: (await this.store.ofServer(id)).map(toPersonConnectionView) };
  }

  @Post(':connection/expire')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete the credentials of a person, who has to give them again' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async expireConnection(
    @Param('id', ServerIdPipe) id: string,
    @Param('connection') connection: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const subject = await this.subjectOf(id, connection);
    await this.commands.execute(new EndConnection(id, subject, 'expire', actor));
  }

  @Delete(':connection')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete the credentials of a person for a server' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async endConnection(
    @Param('id', ServerIdPipe) id: string,
    @Param('connection') connection: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const subject = await this.subjectOf(id, connection);
    await this.commands.execute(new EndConnection(id, subject, 'disconnect', actor));
  }

  private async subjectOf(serverId: string, connection: string): Promise<string> {
    const { name } = await this.queries.execute(new GetServer(serverId));
    const row = UUID.test(connection) ? await this.store.byId(serverId, connection) : undefined;
    if (!row) throw new ConnectionNotFound(name);
    return row.subject;
  }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
