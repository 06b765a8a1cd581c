import { Module } from '@nestjs/common';
import { CatalogueModule } from '@app/catalogue';
import { SessionsModule } from '@app/sessions';
import { DiscoverToolsHandler } from './discover-tools.command.js';
import { DiscoverToolsOnReplicaNews } from './discover-tools.on-replica-news.js';
import { DiscoverToolsOnServerRecovered } from './discover-tools.on-server-recovered.js';
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
import { ServerToolsController } from './server-tools.controller.js';

@Module({
  imports: [CatalogueModule, SessionsModule],
  controllers: [ServerToolsController, DiscoveryController],
  providers: [
    DiscoveryProgress,
    ForgetProgressOnServerRemoved,
    ToolPublisher,
    DiscoveryRetries,
    RefreshToolsHandler,
    DiscoverToolsOnReplicaNews,
    DiscoverToolsOnServerRecovered,
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
