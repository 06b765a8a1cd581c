import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors, BodyLimit } from '@app/platform';
import { ExportPolicy } from './export-policy.query.js';
import { ImportPolicy } from './import-policy.command.js';
import { readPolicyDocument } from './policy-document.js';
import {
  ImportPolicyQuery,
  PolicyDocumentDto,
  PolicyDocumentView,
  PolicyOutcomeView,
} from './policy-document.dto.js';

/** Values of preset arguments are part of the document: admins wrote them. */
@ApiTags('policy')
@ApiBearerAuth()
@Controller('api/v1/aggregator/policy')
@RequireScope('admin')
export class PolicyDocumentController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get('export')
  @ApiOperation({ summary: 'All views, grants and overrides, as a document to import elsewhere' })
  @ApiOkResponse({ type: PolicyDocumentView })
  @ApiErrors()
  exportPolicy(): Promise<PolicyDocumentView> {
    return this.queries.execute(new ExportPolicy());
  }

  @Post('import')
  @HttpCode(200)
  @BodyLimit('any')
  @ApiOperation({
    summary: 'Make views, grants and overrides what a document says; a second time changes nothing',
  })
  @ApiBody({ type: PolicyDocumentDto })
  @ApiOkResponse({ type: PolicyOutcomeView })
  @ApiErrors(400, 413, 422)
  async importPolicy(
    @Body() body: unknown,
    @Query() { prune }: ImportPolicyQuery,
    @CurrentActor() actor: Actor,
  ): Promise<PolicyOutcomeView> {
    const document = await readPolicyDocument(body);
    const outcome = await this.commands.execute(new ImportPolicy(document, prune === true, actor));
    const { changed, removed, unchanged, refused } = outcome;
    return { changed, removed, unchanged, refused };
  }
}
