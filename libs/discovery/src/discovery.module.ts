import { Module } from '@nestjs/common';
import { ApprovalsModule } from '@app/approvals';
import { CatalogueModule } from '@app/catalogue';
import { SessionsModule } from '@app/sessions';
import { DiscoverToolsHandler } from './discover-tools.command.js';
import { DiscoverToolsOnReplicaNews } from './discover-tools.on-replica-news.js';
import { DiscoverToolsOnServerRecovered } from './discover-tools.on-server-recovered.js';
import { DiscoverToolsOnServerUpdated } from './discover-tools.on-server-updated.js';
import { DiscoverToolsOnSessionOpened } from './discover-tools.on-session-opened.js';
import { DiscoverToolsOnToolListChanged } from './discover-tools.on-tool-list-changed.js';
import { DiscoverWaitingServersHandler } from './publish/discover-waiting-servers.command.js';
import { DiscoverWaitingServersJob } from './publish/discover-waiting-servers.job.js';
import { DiscoverWaitingServersOnCatalogueReplaced } from './publish/discover-waiting-servers.on-catalogue-replaced.js';
import { DiscoveryController } from './discovery.controller.js';
import { DiscoveryProgress } from './discovery-progress.js';
import { ForgetProgressOnServerRemoved } from './forget-progress.on-server-removed.js';
import { PublishOwnToolsHandler } from './publish/publish-own-tools.command.js';
import { DiscoveryRetries } from './discovery-retries.js';
import { RefreshToolsHandler } from './refresh-tools.command.js';
import { ToolPublisher } from './publish/tool-publisher.js';
import { ServerTrialController } from './trial/server-trial.controller.js';
import { TryServerHandler } from './trial/try-server.command.js';
import { ServerToolsController } from './server-tools.controller.js';

@Module({
  imports: [ApprovalsModule, CatalogueModule, SessionsModule],
  controllers: [ServerTrialController, ServerToolsController, DiscoveryController],
  providers: [
    DiscoveryProgress,
    ForgetProgressOnServerRemoved,
    ToolPublisher,
    DiscoveryRetries,
    RefreshToolsHandler,
    TryServerHandler,
    DiscoverToolsOnReplicaNews,
    DiscoverToolsOnServerRecovered,
    DiscoverToolsOnServerUpdated,
    DiscoverToolsHandler,
    DiscoverWaitingServersHandler,
    DiscoverWaitingServersJob,
    DiscoverWaitingServersOnCatalogueReplaced,
    PublishOwnToolsHandler,
    DiscoverToolsOnSessionOpened,
    DiscoverToolsOnToolListChanged,
  ],
})
export class DiscoveryModule {}
