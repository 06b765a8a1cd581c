import { Inject, Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { QueryTool } from '@app/aggregation';
import { Clock, Env } from '@app/platform';
import { KeptResultResources } from '../forward/kept-result-resources.js';
import { RequestForwarder } from '../forward/request-forwarder.js';
import { Offerings } from '../lists/offerings.js';
import { ServerInstructions } from '../lists/server-instructions.js';
import { ClientRoots } from '../notify/client-roots.js';
import { ResourceSubscriptions } from '../notify/resource-subscriptions.js';
import { ServerLogs } from '../notify/server-logs.js';
import { ServerNotifications } from '../notify/server-notifications.js';
import { LiveLists } from '../screen/live-lists.js';
import { LoopGuard } from './loop-guard.js';

/** What the surfaces of clients use. */
@Injectable()
export class SurfaceDependencies {
  constructor(
    readonly queries: QueryBus,
    readonly instructions: ServerInstructions,
    readonly forwarder: RequestForwarder,
    readonly offerings: Offerings,
    readonly liveLists: LiveLists,
    readonly subscriptions: ResourceSubscriptions,
    readonly logs: ServerLogs,
    readonly notifications: ServerNotifications,
    readonly queryTool: QueryTool,
    readonly roots: ClientRoots,
    readonly loops: LoopGuard,
    readonly keptResults: KeptResultResources,
    readonly clock: Clock,
    @Inject(Env) readonly env: Env,
  ) {}
}
