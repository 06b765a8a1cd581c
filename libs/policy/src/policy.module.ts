import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { CatalogueModule } from '@app/catalogue';
import { Absences } from './decide/absences.js';
import { AccessExplainer } from './decide/access-explainer.js';
import { ExplainAccessHandler } from './decide/explain-access.query.js';
import { ExplainedCallers } from './decide/explained-caller.js';
import { WholeViewGuard } from './decide/follows-policy.js';
import { MeController } from './decide/me.controller.js';
import { OfferedServers } from './decide/offered-servers.js';
import { Permissions } from './decide/permissions.js';
import { PolicyController } from './decide/policy.controller.js';
import { ExportPolicyHandler } from './document/export-policy.query.js';
import { ImportPolicyFileHandler } from './document/import-policy-file.command.js';
import { ImportPolicyHandler } from './document/import-policy.command.js';
import { PolicyDocumentController } from './document/policy-document.controller.js';
import { GiveGrantHandler } from './grants/give-grant.command.js';
import { GrantsController } from './grants/grants.controller.js';
import { WithdrawGrantHandler } from './grants/withdraw-grant.command.js';
import { LoadPolicyOnStart } from './load-policy.on-start.js';
import { OverridesController } from './overrides/overrides.controller.js';
import { RemoveOverrideHandler } from './overrides/remove-override.command.js';
import { SetOverrideHandler } from './overrides/set-override.command.js';
import { Policy } from './policy.js';
import { ReloadPolicyJob } from './reload-policy.job.js';
import { ReloadPolicyOnReplicaNews } from './reload-policy.on-replica-news.js';
import { PolicyStore } from './rows/policy.store.js';
import { DeleteViewHandler } from './views/delete-view.command.js';
import { FindViewHandler } from './views/find-view.handler.js';
import { FindViewSlugHandler } from './views/find-view-slug.handler.js';
import { PreviewRulesController } from './views/preview-rules.controller.js';
import { SaveViewHandler } from './views/save-view.command.js';
import { ViewsController } from './views/views.controller.js';

@Module({
  imports: [CatalogueModule],
  controllers: [
    GrantsController,
    MeController,
    OverridesController,
    PolicyController,
    PolicyDocumentController,
    PreviewRulesController,
    ViewsController,
  ],
  providers: [
    Absences,
    AccessExplainer,
    DeleteViewHandler,
    ExplainAccessHandler,
    ExplainedCallers,
    ExportPolicyHandler,
    FindViewHandler,
    FindViewSlugHandler,
    GiveGrantHandler,
    ImportPolicyFileHandler,
    ImportPolicyHandler,
    LoadPolicyOnStart,
    OfferedServers,
    Permissions,
    Policy,
    PolicyStore,
    ReloadPolicyJob,
    ReloadPolicyOnReplicaNews,
    RemoveOverrideHandler,
    SaveViewHandler,
    SetOverrideHandler,
    { provide: APP_GUARD, useClass: WholeViewGuard },
    WithdrawGrantHandler,
  ],
  exports: [Absences, OfferedServers, Permissions, Policy],
})
export class PolicyModule {}
