import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
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
import { ApiErrors, Clock } from '@app/platform';
import { Policy } from '../policy.js';
import { GiveGrant } from './give-grant.command.js';
import type { Grant } from './grant.js';
import { GiveGrantDto, GrantListView, GrantsQuery, GrantView, toGrantView } from './grants.dto.js';
import { WithdrawGrant } from './withdraw-grant.command.js';

@ApiTags('policy')
@ApiBearerAuth()
@Controller('api/v1/aggregator/grants')
@RequireScope('admin')
export class GrantsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly policy: Policy,
    private readonly clock: Clock,
  ) {}

  @Get()
  @RequireScope('operate')
  @ApiOperation({ summary: 'Who may use which view, the oldest grant first' })
  @ApiOkResponse({ type: GrantListView })
  @ApiErrors(422)
  listGrants(@Query() { view, limit, offset }: GrantsQuery): GrantListView {
    const all = [...this.policy.current.grantsById.values()].map((grant) => this.shown(grant));
    const grants = all.filter((grant) => view === undefined || grant.view === view);
    return { grants: grants.slice(offset, offset + limit), total: grants.length, limit, offset };
  }

  @Post()
  @ApiOperation({
    summary: 'Let a token, user, group, client or anyone use a view; replaces their grant on it',
  })
  @ApiCreatedResponse({ type: GrantView })
  @ApiErrors(400, 404, 409, 422)
  async giveGrant(@Body() dto: GiveGrantDto, @CurrentActor() actor: Actor): Promise<GrantView> {
    const { expires_in_seconds: seconds } = dto;
    const grant = await this.commands.execute(
      new GiveGrant(
        {
          subjectKind: dto.subject_kind,
          subject: dto.subject ?? '',
          view: dto.view,
          level: dto.level,
          expiresAt:
            seconds == null ? null : new Date(this.clock.now().getTime() + seconds * 1_000),
          callsPerMinute: dto.calls_per_minute ?? null,
        },
        actor,
      ),
    );
    return this.shown(grant);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Withdraw a grant: the next call by it is refused' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async withdrawGrant(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.commands.execute(new WithdrawGrant(id, actor));
  }

  private shown(grant: Grant): GrantView {
    return toGrantView(
      grant,
      this.policy.current.viewsById.get(grant.viewId)?.slug ?? grant.viewId,
    );
  }
}
