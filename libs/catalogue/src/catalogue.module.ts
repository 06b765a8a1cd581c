import { Module } from '@nestjs/common';
import { RegistryModule } from '@app/registry';
import { VectorsModule } from '@app/vectors';
import { Catalogue } from './catalogue.js';
import { catalogueMetrics } from './catalogue.metrics.js';
import { FollowReplicasOnNews } from './refresh/follow-replicas.on-news.js';
import { IndexToolsOnCatalogueReplaced } from './refresh/index-tools.on-catalogue-replaced.js';
import { LoadCatalogueOnStart } from './refresh/load-catalogue.on-start.js';
import { ReconcileCatalogueJob } from './refresh/reconcile-catalogue.job.js';
import { RefreshCatalogueOnChanges } from './refresh/refresh-catalogue.on-changes.js';
import { RemoveToolsHandler } from './remove-tools.handler.js';
import { RenameToolsHandler } from './rename-tools.handler.js';
import { StateController } from './state.controller.js';
import { ToolStore } from './tool.store.js';
import { ToolsOfServersHandler } from './tools-of-servers.handler.js';

@Module({
  imports: [RegistryModule, VectorsModule],
  controllers: [StateController],
  providers: [
    ToolStore,
    Catalogue,
    IndexToolsOnCatalogueReplaced,
    LoadCatalogueOnStart,
    RefreshCatalogueOnChanges,
    FollowReplicasOnNews,
    ReconcileCatalogueJob,
    ...catalogueMetrics,
    RemoveToolsHandler,
    RenameToolsHandler,
    ToolsOfServersHandler,
  ],
  exports: [Catalogue, ToolStore],
})
export class CatalogueModule {}
