import { type Access, DEFAULT_VIEW, EVERYTHING } from '@app/policy';
import { catalogueOf, serverIdOf } from '../../../../test/support/catalogue.js';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { policyWith } from '../../../../test/support/policy.js';
import { McpSurfaces } from './mcp-surfaces.js';

const [ALL] = EVERYTHING.view.rules;
if (!ALL) throw new Error('no rule includes everything');
const other = { ...EVERYTHING.view, id: 'id-of-other', slug: 'other' };
const part = (namePattern: string) => ({
  ...EVERYTHING.view,
  ...DEFAULT_VIEW,
  rules: [ALL, { ...ALL, effect: 'exclude' as const, namePattern }],
});
const override = {
  id: 'id-of-override',
  viewId: null,
  serverId: serverIdOf('alpha'),
  tool: 'get',
  name: 'look_up',
  title: null,
  description: null,
  annotations: null,
  hiddenArguments: [],
  presetArguments: {},
  budgetTokens: null,
  basisHash: '',
  updatedBy: 'ops',
  updatedAt: new Date(0),
};

type Rows = Required<Parameters<typeof policyWith>[0]>;

function start() {
  const clock = new FakeClock();
  const catalogue = { current: catalogueOf([{ name: 'alpha', tools: ['get', 'put'] }]) };
  const policy = {
    current: policyWith({ views: [part('put'), other] }),
    offerOf: (viewId: string) => policy.current.offerOf(viewId, false) ?? EVERYTHING,
  };
  const session = { serverInfo: {}, capabilities: { tools: {}, prompts: {} }, provenance: {} };
  const deps = {
    clock,
    forwarder: { session: async () => session },
    keptResults: { capabilities: (ofServer: object) => ofServer },
    loops: { introduction: () => undefined },
    offerings: { withheldPromptsOf: () => new Set() },
    instructions: { note: async () => undefined, get: () => undefined },
    env: { MCP_AGGREGATOR_TRUST: 'auto' },
    notifications: { watch: () => () => undefined },
  };
  const surfaces = new McpSurfaces(policy as never, catalogue as never, deps as never);
  const access = (viewId: string): Access =>
    ({ offer: policy.offerOf(viewId), view: { id: viewId } }) as unknown as Access;
  const heard: string[] = [];
  const watch = async (name: string, surface: ReturnType<McpSurfaces['aggregate']>) => {
    await surface.ready();
    surface.watch(({ kind }) => heard.push(`${name} ${kind}`));
    return surface;
  };
  /** What is told at once; later notices of a burst are told before the next change. */
  const change = async (
    views: Rows['views'],
    overrides: Rows['overrides'] = [],
  ): Promise<string[]> => {
    await clock.advance(60_000);
    heard.length = 0;
    policy.current = policyWith({ views, overrides }, policy.current);
    surfaces.policyChanged();
    return heard.toSorted();
  };
  return { surfaces, access, watch, change, heard, catalogue };
}

describe(McpSurfaces.name, () => {
  it('tells the clients of a view of its lists, at every endpoint, and those of other views nothing', async () => {
    const { surfaces, access, watch, change } = start();
    await watch('all', surfaces.aggregate(access(DEFAULT_VIEW.id)));
    await watch('search', surfaces.search(access(DEFAULT_VIEW.id)));
    const alpha = await watch('alpha', surfaces.ofServer(access(DEFAULT_VIEW.id), 'alpha'));
    await watch('other', surfaces.aggregate(access(other.id)));
    expect(alpha.describe().capabilities).toEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
    });
    expect(await change([part('get'), other])).toEqual([
      'all prompts',
      'all resources',
      'all tools',
      // The server has no resources.
      'alpha prompts',
      'alpha tools',
      'search tools',
    ]);
    expect(await change([part('get'), other])).toEqual([]);
    expect(await change([part('get'), { ...other, rules: [] }])).toEqual([
      'other prompts',
      'other resources',
      'other tools',
    ]);
  });

  it('tells of tools only when an override changes', async () => {
    const { surfaces, access, watch, change } = start();
    await watch('all', surfaces.aggregate(access(DEFAULT_VIEW.id)));
    await watch('search', surfaces.search(access(DEFAULT_VIEW.id)));
    await watch('alpha', surfaces.ofServer(access(DEFAULT_VIEW.id), 'alpha'));
    expect(await change([part('put'), other], [override])).toEqual([
      'all tools',
      'alpha tools',
      'search tools',
    ]);
  });

  it('leaves it to a server that is offered as a whole to tell of its own changes', async () => {
    const { surfaces, access, watch, change, heard, catalogue } = start();
    await change([{ ...EVERYTHING.view, ...DEFAULT_VIEW }, other]);
    const alpha = await watch('alpha', surfaces.ofServer(access(DEFAULT_VIEW.id), 'alpha'));
    expect(alpha.describe().capabilities).toEqual({ tools: {}, prompts: {} });
    catalogue.current = catalogueOf([{ name: 'alpha', tools: ['get'] }]);
    surfaces.followCatalogue();
    expect(heard).toEqual([]);
    expect(await change([part('get'), other])).toEqual(['alpha prompts', 'alpha tools']);
  });
});
