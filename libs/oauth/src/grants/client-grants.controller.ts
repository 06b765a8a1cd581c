import { Controller, Delete, Get, HttpCode, Param, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import {
  type Actor,
  CallerMay,
  CurrentActor,
  CurrentPrincipal,
  type Principal,
  RequireScope,
  Tokens,
} from '@app/access';
import { UuidPipe, ApiErrors, PageQuery } from '@app/platform';
import { ClientGrantStore, type GrantsOf } from '../rows/client-grant.store.js';
import { OAuthGrantListView, toGrantView } from './client-grants.dto.js';
import { WithdrawClientGrant } from './withdraw-client-grant.command.js';
import { ClientGrantNotFound } from '../oauth.errors.js';

const ClientGrantIdPipe = new UuidPipe((id) => new ClientGrantNotFound(id));

@ApiTags('tokens')
@ApiBearerAuth()
@Controller('api/v1/oauth/grants')
@RequireScope('read')
export class OAuthGrantsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly store: ClientGrantStore,
    private readonly tokens: Tokens,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'Clients that may act for the caller; for administrators, those of everyone',
  })
  @ApiOkResponse({ type: OAuthGrantListView })
  @ApiErrors(422)
  async listOAuthGrants(
    @Query() { limit, offset }: PageQuery,
    @CurrentPrincipal() principal: Principal,
    @CallerMay('admin') isAdmin: boolean,
  ): Promise<OAuthGrantListView> {
    const { grants, total } = await this.store.list(this.grantsOf(principal, isAdmin), {
      limit,
      offset,
    });
    return { grants: grants.map(toGrantView), total, limit, offset };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Withdraw what a client may do: its next request is refused' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async withdrawOAuthGrant(
    @Param('id', ClientGrantIdPipe) id: string,
    @CurrentPrincipal() principal: Principal,
    @CallerMay('admin') isAdmin: boolean,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const of = this.grantsOf(principal, isAdmin);
    await this.commands.execute(new WithdrawClientGrant(id, of, actor, 'person'));
  }

  /** Undefined for those of everyone; none for a caller without an account, such as a JWT. */
  private grantsOf({ name, client }: Principal, isAdmin: boolean): GrantsOf | undefined {
    return isAdmin ? undefined : { accounts: this.tokens.accountsNamed(name), client };
  }
}
