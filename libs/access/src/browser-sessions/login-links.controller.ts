import { Controller, Header, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Env } from '@app/platform';
import type { FastifyRequest } from 'fastify';
import { NotOwnToken } from '../access.errors.js';
import { Authenticator } from '../authenticate/authenticator.js';
import { baseUrl } from '../authenticate/oauth-metadata.js';
import { actorOf, RequireScope } from '../authorize/access.decorators.js';
import { LoginLinkView } from './login-links.dto.js';
import { MakeLoginLink } from './make-login-link.command.js';

@ApiTags('tokens')
@ApiBearerAuth()
@Controller('api/v1/aggregator/login-links')
@RequireScope('read')
export class LoginLinksController {
  constructor(
    private readonly commands: CommandBus,
    private readonly authenticator: Authenticator,
    private readonly env: Env,
  ) {}

  @Post()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Make a link that logs a browser in at the console as the caller, once, in 10 minutes',
  })
  @ApiCreatedResponse({ type: LoginLinkView })
  @ApiErrors()
  async makeLoginLink(@Req() request: FastifyRequest): Promise<LoginLinkView> {
    const holder = await this.authenticator.ownTokenOf(request);
    if (!holder) throw new NotOwnToken();
    const actor = actorOf(request);
    const address = this.env.MCP_AGGREGATOR_PUBLIC_URL ?? baseUrl(request);
    const command = new MakeLoginLink(holder, address, actor);
    const { url, expiresAt } = await this.commands.execute(command);
    return { url, name: actor.name, expires_at: expiresAt.toISOString() };
  }
}
