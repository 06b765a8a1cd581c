import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { ApiErrors, RowIdPipe } from '@app/platform';
import { ServerIdPipe } from '@app/registry';
import { ApprovalStore } from './approval.store.js';
import {
  approvalCursor,
  ApprovalDetailView,
  ApprovalListView,
  ListApprovalsQuery,
  ReviewDto,
  ReviewedView,
  toApprovalDetailView,
  toApprovalView,
} from './approvals.dto.js';
import { ApprovalNotFound } from './approvals.errors.js';
import { ApproveServer } from './review/approve-server.command.js';
import { type ApprovalRef, ReviewDefinition } from './review/review-definition.command.js';

const RowId = new RowIdPipe((id) => new ApprovalNotFound(id));

@ApiTags('approvals')
@ApiBearerAuth()
@Controller('api/v1/aggregator')
export class ApprovalsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly approvals: ApprovalStore,
    private readonly catalogue: Catalogue,
  ) {}

  @Get('approvals')
  @RequireScope('read')
  @ApiOperation({ summary: 'Definitions that are withheld until they are approved, oldest first' })
  @ApiOkResponse({ type: ApprovalListView })
  @ApiErrors(422)
  async listApprovals(@Query() query: ListApprovalsQuery): Promise<ApprovalListView> {
    const page = approvalCursor.read(query);
    const filter = { serverId: query.server_id, state: query.state };
    const { shown, about } = approvalCursor.page(await this.approvals.page(filter, page), page);
    const { servers } = this.catalogue.current;
    return { approvals: shown.map((one) => toApprovalView(one, servers)), ...about };
  }

  @Get('approvals/:id')
  @RequireScope('read')
  @ApiParam({ name: 'id', type: String })
  @ApiOperation({ summary: 'A withheld definition, and what differs from the approved one' })
  @ApiOkResponse({ type: ApprovalDetailView })
  @ApiErrors(404)
  async getApproval(@Param('id', RowId) id: number): Promise<ApprovalDetailView> {
    const approval = await this.approvals.find({ id });
    if (!approval) throw new ApprovalNotFound(String(id));
    return toApprovalDetailView(approval, this.catalogue.current.servers);
  }

  @Post('approvals/:id/approve')
  @HttpCode(200)
  @RequireScope('operate')
  @ApiParam({ name: 'id', type: String })
  @ApiOperation({ summary: 'Offer a withheld definition' })
  @ApiOkResponse({ type: ReviewedView })
  @ApiErrors(404, 409, 422)
  approveDefinition(
    @Param('id', RowId) id: number,
    @Body() dto: ReviewDto,
    @CurrentActor() actor: Actor,
  ): Promise<ReviewedView> {
    return this.review({ id }, 'APPROVED', dto, actor);
  }

  @Post('approvals/:id/reject')
  @HttpCode(200)
  @RequireScope('operate')
  @ApiParam({ name: 'id', type: String })
  @ApiOperation({ summary: 'Keep a definition withheld until it changes again' })
  @ApiOkResponse({ type: ReviewedView })
  @ApiErrors(404, 409, 422)
  rejectDefinition(
    @Param('id', RowId) id: number,
    @Body() dto: ReviewDto,
    @CurrentActor() actor: Actor,
  ): Promise<ReviewedView> {
    return this.review({ id }, 'REJECTED', dto, actor);
  }

  @Post('tools/:id/approve')
  @HttpCode(200)
  @RequireScope('operate')
  @ApiParam({ name: 'id', type: String })
  @ApiOperation({ summary: 'Offer a withheld tool' })
  @ApiOkResponse({ type: ReviewedView })
  @ApiErrors(404, 409, 422)
  approveTool(
    @Param('id', RowId) id: number,
    @Body() dto: ReviewDto,
    @CurrentActor() actor: Actor,
  ): Promise<ReviewedView> {
    return this.review({ toolId: id }, 'APPROVED', dto, actor);
  }

  @Post('servers/:id/approve-all')
  @HttpCode(200)
  @RequireScope('operate')
  @ApiOperation({
    summary:
      'Offer everything of a server that waits for approval; `withheld` of the server has the hash',
  })
  @ApiOkResponse({ type: ReviewedView })
  @ApiErrors(404, 409, 422)
  async approveServer(
    @Param('id', ServerIdPipe) id: string,
    @Body() { expected_hash }: ReviewDto,
    @CurrentActor() actor: Actor,
  ): Promise<ReviewedView> {
    const definitions = await this.commands.execute(new ApproveServer(id, expected_hash, actor));
    return { status: 'APPROVED', definitions };
  }

  private async review(
    ref: ApprovalRef,
    verdict: 'APPROVED' | 'REJECTED',
    { expected_hash }: ReviewDto,
    actor: Actor,
  ): Promise<ReviewedView> {
    await this.commands.execute(new ReviewDefinition(ref, verdict, expected_hash, actor));
    return { status: verdict, definitions: 1 };
  }
}
