import { Module } from '@nestjs/common';
import { CatalogueModule } from '@app/catalogue';
import { RegistryModule } from '@app/registry';
import { ApprovalOfToolHandler } from './approval-of-tool.handler.js';
import { ApprovalStore } from './approval.store.js';
import { ApprovalsController } from './approvals.controller.js';
import { DefinitionScreening } from './decide/definition-screening.js';
import { ToolScreening } from './decide/tool-screening.js';
import { ReportToolsOnToolQuarantined } from './report-tools.on-tool-quarantined.js';
import { ApproveServerHandler } from './review/approve-server.command.js';
import { ApprovedTools } from './review/approved-tools.js';
import { ReviewDefinitionHandler } from './review/review-definition.command.js';
import { WithheldOfServerHandler } from './withheld-of-server.handler.js';

@Module({
  imports: [CatalogueModule, RegistryModule],
  controllers: [ApprovalsController],
  providers: [
    ApprovalOfToolHandler,
    ApprovalStore,
    ToolScreening,
    DefinitionScreening,
    ApprovedTools,
    ReviewDefinitionHandler,
    ApproveServerHandler,
    WithheldOfServerHandler,
    ReportToolsOnToolQuarantined,
  ],
  exports: [ToolScreening, DefinitionScreening],
})
export class ApprovalsModule {}
