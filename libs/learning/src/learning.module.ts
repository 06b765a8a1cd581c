import { Module } from '@nestjs/common';
import { CatalogueModule } from '@app/catalogue';
import { VectorsModule } from '@app/vectors';
import { Learning } from './credit/learning.js';
import { RecentSearches } from './credit/recent-searches.js';
import { DescribeToolsOnCatalogueReplaced } from './recall/describe-tools.on-catalogue-replaced.js';
import { KeepUsesJob } from './recall/keep-uses.job.js';
import { LearntTools } from './recall/learnt-tools.js';
import { ReloadUsesOnReplicaNews } from './recall/reload-uses.on-replica-news.js';
import { LearningController } from './reset/learning.controller.js';
import { ResetLearningHandler } from './reset/reset-learning.command.js';
import { ToolUseStore } from './rows/tool-use.store.js';

@Module({
  imports: [CatalogueModule, VectorsModule],
  controllers: [LearningController],
  providers: [
    DescribeToolsOnCatalogueReplaced,
    KeepUsesJob,
    Learning,
    LearntTools,
    RecentSearches,
    ReloadUsesOnReplicaNews,
    ResetLearningHandler,
    ToolUseStore,
  ],
  exports: [Learning, LearntTools],
})
export class LearningModule {}
