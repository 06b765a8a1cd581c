import { Module } from '@nestjs/common';
import { RegistryModule } from '@app/registry';
import { ForgetResultsOnTokensWithdrawn } from './keep/forget-results.on-tokens-withdrawn.js';
import { KeptResultStore } from './keep/kept-result.store.js';
import { KeptResults } from './keep/kept-results.js';
import { PruneKeptResultsJob } from './keep/prune-kept-results.job.js';
import { ReadKeptResultHandler } from './read/read-kept-result.query.js';
import { ResultsController } from './read/results.controller.js';
import { ResultBudget } from './result-budget.js';
import { ResultMetrics, shortenedResults } from './result.metrics.js';

@Module({
  imports: [RegistryModule],
  controllers: [ResultsController],
  providers: [
    KeptResultStore,
    KeptResults,
    ResultBudget,
    shortenedResults,
    ResultMetrics,
    ReadKeptResultHandler,
    PruneKeptResultsJob,
    ForgetResultsOnTokensWithdrawn,
  ],
  exports: [ResultBudget],
})
export class ResultsModule {}
