import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiExcludeController,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiTags,
} from '@nestjs/swagger';
import { type Actor, CurrentActor, Public, RequireScope } from '@app/access';
import { ApiErrors, AppError, IgnoreUnknownQuery } from '@app/platform';
import { ServerIdPipe } from '@app/registry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { clientMetadata } from '../oauth/oauth-identity.js';
import { AuthorizeServer } from './authorize-server.command.js';
import { consentPage } from './consent-page.js';
import { type ConsentAnswer, FinishAuthorization } from './finish-authorization.command.js';
import { browserSecretIn } from '../persons/page/browser-secret.js';
import { FinishPersonalConsent } from '../persons/page/finish-personal-consent.command.js';
import { CALLBACK_PATH, CLIENT_METADATA_PATH, OwnAddress } from './own-address.js';
import { AuthorizationUnknown, NoClientMetadata } from '../authorization.errors.js';

export class AuthorizeView {
  @ApiProperty({ format: 'uuid' })
  readonly server_id!: string;

  @ApiProperty({ description: 'URL that a user opens in a browser to consent.' })
  readonly authorization_url!: string;

  @ApiProperty({ format: 'date-time' })
  readonly expires_at!: string;
}

@ApiTags('servers')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers/:id/authorize')
export class AuthorizationController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @HttpCode(200)
  @RequireScope('admin')
  @ApiOperation({ summary: 'Get the URL where a user consents to the OAuth access of a server' })
  @ApiOkResponse({ type: AuthorizeView })
  @ApiErrors(404, 409, 502, 503)
  async authorizeServer(
    @Param('id', ServerIdPipe) id: string,
    @CurrentActor() actor: Actor,
  ): Promise<AuthorizeView> {
    const { url, until } = await this.commands.execute(new AuthorizeServer(id, actor));
    return { server_id: id, authorization_url: url, expires_at: until.toISOString() };
  }
}

/** Each at most once, as OAuth requires; other parameters are ignored. */
const answerSchema = z.object({
  state: z.tuple([z.string().min(1).max(200)]),
  code: z.union([z.tuple([]), z.tuple([z.string().min(1).max(8_192)])]),
  iss: z.union([z.tuple([]), z.tuple([z.string().max(2_048)])]),
});

/** The routes for browsers and authorization servers. Nothing of a request is shown or used as a redirect target. */
@Public()
@ApiExcludeController()
@Controller()
export class ConsentController {
  constructor(
    private readonly commands: CommandBus,
    private readonly address: OwnAddress,
  ) {}

  @Get(CALLBACK_PATH)
  @IgnoreUnknownQuery()
  async callback(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const { status, html } = await this.answerTo(request, actor);
    await reply
      .status(status)
      .header('cache-control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(html);
  }

  @Get(CLIENT_METADATA_PATH)
  metadata(): object {
    const clientId = this.address.publishedMetadataUrl;
    const identity = this.address.identity();
    if (!clientId || !identity) throw new NoClientMetadata();
    return {
      client_id: clientId,
      ...clientMetadata(identity),
      application_type: 'web',
      token_endpoint_auth_method: 'none',
    };
  }

  /** Of a server, or else of one person. */
  private async finish(
    answer: ConsentAnswer,
    { headers, host }: FastifyRequest,
    actor: Actor,
  ): Promise<ReturnType<typeof consentPage>> {
    try {
      const name = await this.commands.execute(new FinishAuthorization(answer, actor));
      return consentPage('done', name);
    } catch (error) {
      if (!(error instanceof AuthorizationUnknown)) throw error;
      const secret = browserSecretIn(headers.cookie, host);
      const command = new FinishPersonalConsent(answer, secret, actor.ip);
      return consentPage('connected', await this.commands.execute(command));
    }
  }

  private async answerTo(
    request: FastifyRequest,
    actor: Actor,
  ): Promise<ReturnType<typeof consentPage>> {
    const { searchParams } = new URL(request.url, 'http://localhost');
    const [state, code, iss] = ['state', 'code', 'iss'].map((name) => searchParams.getAll(name));
    const parsed = answerSchema.safeParse({ state, code, iss });
    if (!parsed.success) return consentPage('unreadable');
    const answer = {
      secret: parsed.data.state[0],
      code: parsed.data.code[0],
      iss: parsed.data.iss[0],
    };
    try {
      return await this.finish(answer, request, actor);
    } catch (error) {
      if (!(error instanceof AppError) || error.kind === 'internal') throw error;
      return consentPage(error.kind === 'not-found' ? 'over' : 'failed');
    }
  }
}
