import { Global, Module } from '@nestjs/common';
import { CqrsModule, EventBus } from '@nestjs/cqrs';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { type AuditEntry, AuditLosses, AuditStore, CallerTokens, Challenges } from '@app/access';
import { ActivityFeed, ActivityModule, CallActivity, PeerQuestions } from '@app/activity';
import { ApprovalsModule, DefinitionScreening } from '@app/approvals';
import { AggregationModule, QueryTool } from '@app/aggregation';
import { AuthorizationModule, PersonCredentials } from '@app/authorization';
import { Catalogue, CatalogueModule } from '@app/catalogue';
import { SessionOpened } from '@app/events';
import { GatewayModule } from '@app/gateway';
import { Learning, LearningModule, LearntTools } from '@app/learning';
import { OfferingStore } from '../../libs/gateway/src/lists/offering.store.js';
import { LiveLists } from '../../libs/gateway/src/screen/live-lists.js';
import { connectUpstream, type UpstreamSession, type UpstreamTarget } from '@app/mcp-client';
import {
  ClusterKeys,
  HttpErrorFilter,
  PassingOn,
  PeerRequests,
  Peers,
  type JsonObject,
  PlatformModule,
  readJsonBodies,
  Replicas,
  RequestValidationPipe,
} from '@app/platform';
import { Absences, Permissions, Policy, PolicyModule } from '@app/policy';
import { Deployment } from '@app/registry';
import { ResultBudget, ResultsModule } from '@app/results';
import { RoutingModule } from '@app/routing';
import {
  type ServerNotice,
  type ServerRoots,
  CallerSessions,
  PersonSessions,
  ServerUnavailable,
  SessionPool,
  SessionsModule,
  StdioPlace,
} from '@app/sessions';
import { catalogueOf, serverIdOf } from './catalogue.js';
import { testEnv } from './env.js';
import { policyWithout } from './policy.js';

/** Routing and gateway over real sessions to real servers, without registry, database and tokens. */
export async function startGateway(
  targets: Readonly<Record<string, UpstreamTarget>>,
  settings: Record<string, string> = {},
): Promise<{
  readonly origin: string;
  readonly sessionOf: (server: string) => UpstreamSession;
  readonly audited: AuditEntry[];
  readonly close: () => Promise<void>;
}> {
  const { catalogue, sessions, closeSessions } = await connectAll(targets);

  @Module({ providers: [{ provide: Catalogue, useValue: catalogue }], exports: [Catalogue] })
  class PicturedCatalogue {}

  @Module({
    providers: [
      { provide: SessionPool, useValue: sessions },
      // Every server is called with its own credentials.
      { provide: PersonSessions, useValue: { of: () => new Map() } },
      CallerSessions,
      { provide: StdioPlace, useValue: {} },
      { provide: Replicas, useValue: { hear: () => () => undefined } },
      { provide: Peers, useValue: { isClustered: false, onGone: () => () => undefined } },
      ClusterKeys,
      { provide: PassingOn, useValue: { endStanding: () => undefined, endOver: () => undefined } },
      { provide: PeerRequests, useValue: {} },
      { provide: Deployment, useValue: { id: 'gateway-under-test' } },
    ],
    exports: [
      SessionPool,
      CallerSessions,
      PersonSessions,
      StdioPlace,
      Replicas,
      Peers,
      ClusterKeys,
      PassingOn,
      PeerRequests,
      Deployment,
    ],
  })
  class Sessions {}

  @Module({
    providers: [{ provide: PersonCredentials, useValue: {} }],
    exports: [PersonCredentials],
  })
  class WithoutPeople {}

  const audited: AuditEntry[] = [];
  const audit = { recordAll: async (entries: AuditEntry[]) => void audited.push(...entries) };
  const losses: Pick<AuditLosses, 'say'> = { say: () => undefined };
  @Global()
  @Module({
    providers: [
      { provide: AuditStore, useValue: audit },
      { provide: AuditLosses, useValue: losses },
      // Every caller has all scopes.
      { provide: Challenges, useValue: {} },
      { provide: CallerTokens, useValue: { sealed: () => undefined } },
    ],
    exports: [AuditStore, AuditLosses, CallerTokens, Challenges],
  })
  class Access {}

  @Module({
    providers: [QueryTool, { provide: Catalogue, useValue: catalogue }],
    exports: [QueryTool],
  })
  class Aggregation {}

  const policy = policyWithout();
  @Module({
    providers: [
      Permissions,
      { provide: Policy, useValue: policy },
      { provide: Absences, useValue: { reasonFor: () => undefined } },
    ],
    exports: [Absences, Permissions, Policy],
  })
  class WithoutPolicy {}
  const budget: Pick<ResultBudget, 'isOn' | 'within'> = { isOn: false, within: (result) => result };
  @Module({
    providers: [{ provide: ResultBudget, useValue: budget }],
    exports: [ResultBudget],
  })
  class Unbudgeted {}
  const offersAll: Pick<DefinitionScreening, 'publish'> = {
    publish: (_serverId, _kind, listed) => Promise.resolve(new Set(listed.map(({ name }) => name))),
  };
  @Module({
    providers: [{ provide: DefinitionScreening, useValue: offersAll }],
    exports: [DefinitionScreening],
  })
  class Approvals {}

  const feed: Pick<ActivityFeed, 'isHeard' | 'replica' | 'tell'> = {
    replica: '00000000',
    isHeard: () => false,
    tell: () => Promise.resolve(),
  };
  const calls: Pick<CallActivity, 'begin' | 'end'> = {
    begin: () => undefined,
    end: () => undefined,
  };
  const questions: Pick<PeerQuestions, 'answerWith' | 'ask'> = {
    answerWith: () => undefined,
    ask: () => Promise.resolve({ answers: [], missing: 0 }),
  };
  @Module({
    providers: [
      { provide: ActivityFeed, useValue: feed },
      { provide: CallActivity, useValue: calls },
      { provide: PeerQuestions, useValue: questions },
    ],
    exports: [ActivityFeed, CallActivity, PeerQuestions],
  })
  class Unheard {}

  const learning: Pick<Learning, 'noteCall' | 'noteSearch'> = {
    noteCall: () => undefined,
    noteSearch: () => undefined,
  };
  const learnt: Pick<LearntTools, 'of'> = { of: () => undefined };
  @Module({
    providers: [
      { provide: Learning, useValue: learning },
      { provide: LearntTools, useValue: learnt },
    ],
    exports: [Learning, LearntTools],
  })
  class Unlearning {}

  const env = testEnv('unused', settings);
  const moduleRef = await Test.createTestingModule({
    imports: [
      PlatformModule.forRoot(env),
      CqrsModule.forRoot(),
      Access,
      RoutingModule,
      GatewayModule,
    ],
  })
    .overrideModule(CatalogueModule)
    .useModule(PicturedCatalogue)
    .overrideModule(ActivityModule)
    .useModule(Unheard)
    .overrideModule(ApprovalsModule)
    .useModule(Approvals)
    .overrideModule(AggregationModule)
    .useModule(Aggregation)
    .overrideModule(PolicyModule)
    .useModule(WithoutPolicy)
    .overrideModule(ResultsModule)
    .useModule(Unbudgeted)
    .overrideModule(LearningModule)
    .useModule(Unlearning)
    .overrideModule(SessionsModule)
    .useModule(Sessions)
    .overrideModule(AuthorizationModule)
    .useModule(WithoutPeople)
    .overrideProvider(OfferingStore)
    .useValue(noRows)
    .overrideProvider(LiveLists)
    .useValue(undecided)
    .compile();
  const app = moduleRef.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
    logger: false,
    bodyParser: false,
  });
  readJsonBodies(app.getHttpAdapter().getInstance());
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, _reply, done) => {
      request.principal = { name: 'tester', scopes: ['call'], subjects: [] };
      done();
    });
  app.useGlobalPipes(new RequestValidationPipe());
  app.useGlobalFilters(new HttpErrorFilter());
  await app.listen(0, '127.0.0.1');
  for (const name of Object.keys(targets)) {
    app.get(EventBus).publish(new SessionOpened(serverIdOf(name)));
  }
  return {
    origin: await app.getUrl(),
    sessionOf: (server) => {
      const session = sessions.get(serverIdOf(server));
      if (!session) throw new Error(`no session to ${server}`);
      return session;
    },
    audited,
    close: async () => {
      app.getHttpServer().closeAllConnections();
      await app.close();
      await closeSessions();
    },
  };
}

/** Without rows there is nothing to compare lists with. */
const undecided: Pick<LiveLists, 'shown'> = {
  shown: (_serverId, _kind, items) => Promise.resolve(items),
};

/** Nothing is stored. */
const noRows: Pick<OfferingStore, 'load' | 'write' | 'loadInstructions'> = {
  async *load() {},
  write: () => Promise.resolve(),
  loadInstructions: () => Promise.resolve(new Map()),
};

async function connectAll(targets: Readonly<Record<string, UpstreamTarget>>) {
  const open = new Map<string, UpstreamSession>();
  const pictured = await Promise.all(
    Object.entries(targets).map(async ([name, target]) => {
      const session = await connectUpstream(target, {
        connectTimeoutMs: 60_000,
        maxAnswerBytes: 10_000_000,
        clientInfo: { name: 'switchboard-test', version: '0' },
        clientCapabilities: {
          sampling: {},
          elicitation: { form: {}, url: {} },
          roots: { listChanged: true },
        },
        allowInsecureHttp: false,
      });
      open.set(serverIdOf(name), session);
      void session.closed.then(() => open.delete(serverIdOf(name)));
      const limits = { maxItems: 1_000, maxPages: 10, timeoutMs: 60_000 };
      const tools = await session.listAll('tools', limits);
      return { name, tools: tools.map(named) };
    }),
  );
  const sessions = {
    get: (id: string) => open.get(id),
    acquire: async (server: { id: string; name: string; status: string }) => {
      throw new ServerUnavailable(server);
    },
    statusWritten: () => Promise.resolve(),
    onServerNotice: (tell: ServerNotice) => {
      for (const [id, session] of open) {
        session.onNotification((...notice) => tell(id, ...notice));
      }
    },
    setAudience: () => undefined,
    setRootsProvider: (roots: ServerRoots) => {
      for (const [id, session] of open) {
        session.setRootsProvider((...asked) => roots(id, ...asked));
      }
    },
  };
  return {
    catalogue: { current: catalogueOf(pictured) },
    sessions,
    closeSessions: async () => {
      await Promise.all([...open.values()].map((session) => session.close({ force: true })));
    },
  };
}

function named(tool: JsonObject): JsonObject & { readonly name: string } {
  const { name } = tool;
  if (typeof name !== 'string') throw new Error('a tool without a name');
  return { ...tool, name };
}
