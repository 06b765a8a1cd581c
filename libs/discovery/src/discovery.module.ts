import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SessionsModule } from '@app/sessions';
import { VectorsModule } from '@app/vectors';
import { Catalogue } from './catalogue.js';
import { DiscoverToolsHandler } from './discover-tools.command.js';
import { DiscoverToolsOnSessionOpened } from './discover-tools.on-session-opened.js';
import { DiscoveryController } from './discovery.controller.js';
import { DiscoveryProgress } from './discovery-progress.js';
import { FollowReplicasOnNews } from './follow-replicas.on-news.js';
import { ForgetProgressOnServerRemoved } from './forget-progress.on-server-removed.js';
import { IndexToolsOnCatalogueChanges } from './index-tools.on-catalogue-changes.js';
import { LoadCatalogueOnStart } from './load-catalogue.on-start.js';
import { PublishOwnToolsHandler } from './publish-own-tools.command.js';
import { ReconcileCatalogueJob } from './reconcile-catalogue.job.js';
import { RefreshCatalogueOnChanges } from './refresh-catalogue.on-changes.js';
import { ToolEntity } from './tool.entity.js';
import { ToolStore } from './tool.store.js';
import { ServerToolsController } from './tools.controller.js';

@Module({
  imports: [TypeOrmModule.forFeature([ToolEntity]), SessionsModule, VectorsModule],
  controllers: [ServerToolsController, DiscoveryController],
  providers: [
    ToolStore,
    Catalogue,
    IndexToolsOnCatalogueChanges,
    LoadCatalogueOnStart,
    RefreshCatalogueOnChanges,
    FollowReplicasOnNews,
    ReconcileCatalogueJob,
    DiscoveryProgress,
    ForgetProgressOnServerRemoved,
    DiscoverToolsHandler,
    PublishOwnToolsHandler,
    DiscoverToolsOnSessionOpened,
  ],
  exports: [Catalogue],
})
export class DiscoveryModule {}
