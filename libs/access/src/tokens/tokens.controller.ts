import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Post,
  Query,
} from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import {
  UuidPipe,
  ApiErrors,
  Env,
  InvalidInput,
  oauthIssuer,
  PageQuery,
  type Role,
  scopesOfRole,
  type TokenScope,
} from '@app/platform';
import { CurrentActor, RequireScope } from '../authorize/access.decorators.js';
import type { Actor, PinnedView } from '../authenticate/principal.js';
import { NoPasswordPages } from '../access.errors.js';
import { InvitePerson } from '../passwords/invite-person.command.js';
import { FindView, type ViewLevel } from './find-view.query.js';
import { IssueToken } from './issue-token.command.js';
import { IssuedTokenStore } from './issued-token.store.js';
import { RevokeToken } from './revoke-token.command.js';
import { RotateToken } from './rotate-token.command.js';
import {
  InvitationView,
  IssueTokenDto,
  RotateTokenDto,
  SecretTokenView,
  TokenListView,
  TokenView,
  toSecretTokenView,
  toTokenView,
} from './tokens.dto.js';
import { TokenNotFound } from '../access.errors.js';

const OVERLAP_S = 3_600;

const TokenIdPipe = new UuidPipe((id) => new TokenNotFound(id));

@ApiTags('tokens')
@ApiBearerAuth()
@Controller('api/v1/aggregator/tokens')
@RequireScope('admin')
export class TokensController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly store: IssuedTokenStore,
    private readonly env: Env,
  ) {}

  @Get()
  @ApiOperation({ summary: 'All tokens by name, those of the configuration too; never a secret' })
  @ApiOkResponse({ type: TokenListView })
  @ApiErrors(422)
  async listTokens(@Query() { limit, offset }: PageQuery): Promise<TokenListView> {
    const { tokens, total } = await this.store.list({ limit, offset });
    return { tokens: tokens.map(toTokenView), total, limit, offset };
  }

  @Post()
  @ApiOperation({ summary: 'Make a token; it is shown only in this answer' })
  @ApiCreatedResponse({ type: SecretTokenView })
  @ApiErrors(400, 404, 409, 422)
  async issueToken(
    @Body() { name, role, scopes, expires_in_seconds, view, level }: IssueTokenDto,
    @CurrentActor() actor: Actor,
  ): Promise<SecretTokenView> {
    const pinned = view ? await this.pinnedTo(view, level ?? 'call') : null;
    const given = scopesGiven(role, scopes);
    const command = new IssueToken(name, given, expires_in_seconds ?? undefined, actor, pinned);
    const { token, secret } = await this.commands.execute(command);
    return toSecretTokenView(token, secret);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One token' })
  @ApiOkResponse({ type: TokenView })
  @ApiErrors(404)
  async getToken(@Param('id', TokenIdPipe) id: string): Promise<TokenView> {
    return toTokenView(await this.store.get(id));
  }

  @Post(':id/rotate')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Give a token another secret; the one before is accepted for some time',
  })
  @ApiOkResponse({ type: SecretTokenView })
  @ApiErrors(400, 404, 422)
  async rotateToken(
    @Param('id', TokenIdPipe) id: string,
    @Body() { overlap_seconds }: RotateTokenDto,
    @CurrentActor() actor: Actor,
  ): Promise<SecretTokenView> {
    const command = new RotateToken(id, overlap_seconds ?? OVERLAP_S, actor);
    const { token, secret } = await this.commands.execute(command);
    return toSecretTokenView(token, secret);
  }

  @Post(':id/invitations')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Make a link with which a person chooses a password for this token, once, in 24 hours',
  })
  @ApiCreatedResponse({ type: InvitationView })
  @ApiErrors(404, 409)
  async invitePerson(
    @Param('id', TokenIdPipe) id: string,
    @CurrentActor() actor: Actor,
  ): Promise<InvitationView> {
    const address = oauthIssuer(this.env);
    if (address === undefined) throw new NoPasswordPages();
    const { url, name, expiresAt } = await this.commands.execute(
      new InvitePerson(id, address, actor),
    );
    return { url, name, expires_at: expiresAt.toISOString() };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke a token: its next request is refused, its sessions end' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async revokeToken(
    @Param('id', TokenIdPipe) id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.commands.execute(new RevokeToken(id, actor));
  }

  private async pinnedTo(slug: string, level: ViewLevel): Promise<PinnedView> {
    const { viewId } = await this.queries.execute(new FindView(slug));
    return { viewId, level };
  }
}

function scopesGiven(
  role: Role | null | undefined,
  scopes: readonly TokenScope[] | null | undefined,
): readonly TokenScope[] {
  if (role && !scopes) return scopesOfRole(role);
  if (scopes && !role) return scopes;
  const msg = 'Must be given unless `scopes` are, and not with them';
  throw new InvalidInput([{ loc: ['body', 'role'], msg, type: 'value_error' }]);
}
