import { Module } from '@nestjs/common';
import { CatalogueModule } from '@app/catalogue';
import { PolicyModule } from '@app/policy';
import { CallActivity } from './calls/call-activity.js';
import { PeerQuestions } from './cluster/peer-questions.js';
import { ActivityFeed } from './feed/activity-feed.js';
import { CallDayStore } from './stats/call-day.store.js';
import { CallDays } from './stats/call-days.js';
import { CallHistory } from './stats/call-history.js';
import { CallStatsHandler } from './stats/call-stats.query.js';
import { ForgetCallsOnCatalogueReplaced } from './stats/forget-calls.on-catalogue-replaced.js';
import { StatsController } from './stats/stats.controller.js';
import { StoreCallDaysJob } from './stats/store-call-days.job.js';
import { EndStreamsOnAccessChanges } from './stream/end-streams.on-access-changes.js';
import { EventStreams } from './stream/event-streams.js';
import { EventsController } from './stream/events.controller.js';
import { TellAuditEntries } from './tell/tell-audit-entries.js';
import { TellCatalogueOnToolChanges } from './tell/tell-catalogue.on-tool-changes.js';
import { TellHealthOnHealthChanges } from './tell/tell-health.on-health-changes.js';
import { TellServersOnServerChanges } from './tell/tell-servers.on-server-changes.js';

@Module({
  imports: [CatalogueModule, PolicyModule],
  controllers: [EventsController, StatsController],
  providers: [
    ActivityFeed,
    CallActivity,
    CallDays,
    CallDayStore,
    CallHistory,
    CallStatsHandler,
    EndStreamsOnAccessChanges,
    EventStreams,
    ForgetCallsOnCatalogueReplaced,
    PeerQuestions,
    StoreCallDaysJob,
    TellAuditEntries,
    TellCatalogueOnToolChanges,
    TellHealthOnHealthChanges,
    TellServersOnServerChanges,
  ],
  exports: [ActivityFeed, CallActivity, EventStreams, PeerQuestions],
})
export class ActivityModule {}
