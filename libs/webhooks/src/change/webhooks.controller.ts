import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { UuidPipe, ApiErrors, PageQuery } from '@app/platform';
import { DeliveryStore } from '../rows/delivery.store.js';
import { WebhookStore } from '../rows/webhook.store.js';
import type { Webhook } from '../webhook.js';
import { ChangeWebhook } from './change-webhook.command.js';
import { CreateWebhook } from './create-webhook.command.js';
import { RemoveWebhook } from './remove-webhook.command.js';
import {
  ChangeWebhookDto,
  CreateWebhookDto,
  SecretWebhookView,
  WebhookListView,
  WebhookView,
} from './webhooks.dto.js';
import { WebhookNotFound } from '../webhooks.errors.js';

const WebhookIdPipe = new UuidPipe((id) => new WebhookNotFound(id));

@ApiTags('webhooks')
@ApiBearerAuth()
@Controller('api/v1/aggregator/webhooks')
@RequireScope('admin')
export class WebhooksController {
  constructor(
    private readonly commands: CommandBus,
    private readonly store: WebhookStore,
    private readonly deliveries: DeliveryStore,
    private readonly catalogue: Catalogue,
  ) {}

  @Get()
  @ApiOperation({ summary: 'All webhooks, oldest first; never a secret' })
  @ApiOkResponse({ type: WebhookListView })
  @ApiErrors(422)
  async listWebhooks(@Query() { limit, offset }: PageQuery): Promise<WebhookListView> {
    const { webhooks, total } = await this.store.list({ limit, offset });
    const waiting = await this.deliveries.waitingOf(webhooks.map(({ id }) => id));
    const views = webhooks.map((webhook) => this.view(webhook, waiting.get(webhook.id) ?? 0));
    return { webhooks: views, total, limit, offset };
  }

  @Post()
  @ApiOperation({ summary: 'Send events to a URL; the secret is shown only in this answer' })
  @ApiCreatedResponse({ type: SecretWebhookView })
  @ApiErrors(400, 409, 422)
  async createWebhook(
    @Body() { url, description, topics, servers, enabled }: CreateWebhookDto,
    @CurrentActor() actor: Actor,
  ): Promise<SecretWebhookView> {
    const given = {
      url,
      description: description ?? null,
      topics,
      servers: servers ?? null,
      enabled: enabled ?? true,
    };
    const { webhook, secret } = await this.commands.execute(new CreateWebhook(given, actor));
    return { ...this.fields(webhook, 0), secret };
  }

  @Get(':id')
  @ApiOperation({ summary: 'One webhook, and how its events are taken' })
  @ApiOkResponse({ type: WebhookView })
  @ApiErrors(404)
  async getWebhook(@Param('id', WebhookIdPipe) id: string): Promise<WebhookView> {
    return this.shown(await this.store.get(id));
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Change a webhook, or switch it off and on; its secret stays' })
  @ApiOkResponse({ type: WebhookView })
  @ApiErrors(400, 404, 422)
  async changeWebhook(
    @Param('id', WebhookIdPipe) id: string,
    @Body() { url, description, topics, servers, enabled }: ChangeWebhookDto,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookView> {
    // Null is for fields that may be empty; elsewhere it is as if left out.
    const given = {
      ...(typeof url === 'string' && { url }),
      ...(description !== undefined && { description }),
      ...(Array.isArray(topics) && { topics }),
      ...(servers !== undefined && { servers }),
      ...(typeof enabled === 'boolean' && { enabled }),
    };
    return this.shown(await this.commands.execute(new ChangeWebhook(id, given, actor)));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Remove a webhook: nothing is sent to it after the answer' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async removeWebhook(
    @Param('id', WebhookIdPipe) id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.commands.execute(new RemoveWebhook(id, actor));
  }

  private async shown(webhook: Webhook): Promise<WebhookView> {
    const waiting = await this.deliveries.waitingOf([webhook.id]);
    return this.view(webhook, waiting.get(webhook.id) ?? 0);
  }

  private view(webhook: Webhook, waiting: number): WebhookView {
    return this.fields(webhook, waiting);
  }

  private fields(webhook: Webhook, waiting: number) {
    const { servers } = this.catalogue.current;
    return {
      id: webhook.id,
      url: webhook.url,
      description: webhook.description,
      topics: [...webhook.topics],
      servers: webhook.serverIds && webhook.serverIds.map((id) => servers.get(id)?.name ?? id),
      enabled: webhook.enabled,
      created_by: webhook.createdBy,
      created_at: webhook.createdAt.toISOString(),
      updated_at: webhook.updatedAt.toISOString(),
      waiting,
      dead: webhook.dead,
      delivered_at: webhook.deliveredAt?.toISOString() ?? null,
      failing_since: webhook.failingSince?.toISOString() ?? null,
      last_error: webhook.lastError,
    };
  }
}
