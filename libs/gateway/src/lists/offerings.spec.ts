import { EVERYTHING } from '@app/policy';
import { Logger } from '@nestjs/common';
import type { CommandBus } from '@nestjs/cqrs';
import type { Catalogue, CatalogueServer, CatalogueSnapshot } from '@app/catalogue';
import type { ListKind, ListLimits, UpstreamSession } from '@app/mcp-client';
import { Provenance } from '@app/mcp-protocol';
import type { JsonObject, Replicas } from '@app/platform';
import { SetListFailure, SetOfferingWarnings } from '@app/registry';
import type { SessionPool } from '@app/sessions';
import { catalogueOf, serverIdOf } from '../../../../test/support/catalogue.js';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { testEnv } from '../../../../test/support/env.js';
import { eventually } from '../../../../test/support/eventually.js';
import type { OfferingStore, StoredPart } from './offering.store.js';
import { OfferingWarnings } from './offering-warnings.js';
import { ServerInstructions } from './server-instructions.js';
import type { InstructionScreening } from '../screen/instruction-screening.js';
import { Offerings } from './offerings.js';
import { ReloadOfferingsOnReplicaNews } from './reload-offerings.on-replica-news.js';
import type { PageItem } from './paging.js';
import type { PromptScreening } from '../screen/prompt-screening.js';
import { PAGE_BYTES } from './paging.js';

type Lists = Partial<Record<ListKind, readonly JsonObject[] | (() => Promise<JsonObject[]>)>>;

const json = (item: PageItem): string => item.json;
const resource = (uri: string): JsonObject => ({ uri, name: uri });
const template = (uriTemplate: string): JsonObject => ({ uriTemplate, name: uriTemplate });

/** Servers in order of registration, with their current lists. */
class World {
  readonly lists = new Map<string, Lists>();
  readonly listed: string[] = [];
  readonly told: string[] = [];
  readonly rows = new Map<string, StoredPart>();
  readonly warned = new Map<string, readonly string[]>();
  readonly clock = new FakeClock();
  tellReplica: (serverIds: readonly string[]) => void = () => undefined;
  readonly offerings: Offerings;
  private snapshot: CatalogueSnapshot;
  private readonly sessions = new Map<string, UpstreamSession>();

  constructor(names: readonly string[], settings: Record<string, string> = {}) {
    this.snapshot = catalogueOf(names.map((name) => ({ name, tools: [] })));
    const snapshot = (): CatalogueSnapshot => this.snapshot;
    const catalogue = {
      get current() {
        return snapshot();
      },
    };
    const sessions = {
      leads: true,
      get: (id: string) => this.sessions.get(id),
    } as unknown as SessionPool;
    const commands = {
      execute: (command: SetOfferingWarnings | SetListFailure) => {
        if (command instanceof SetOfferingWarnings) {
          this.warned.set(command.serverId, command.warnings);
        } else this.noteFailure(command);
        return Promise.resolve();
      },
    } as unknown as CommandBus;
    this.offerings = new Offerings(
      catalogue as unknown as Catalogue,
      sessions,
      this.store() as unknown as OfferingStore,
      new OfferingWarnings(commands, sessions, this.clock),
      new ServerInstructions(this.store() as unknown as OfferingStore, {} as InstructionScreening),
      this.screening(),
      this.clock,
      testEnv('unused', settings),
    );
    this.offerings.watch((kind) => this.told.push(kind));
    const replicas: Pick<Replicas, 'hear'> = {
      hear: (listener) => {
        this.tellReplica = (ids) => void listener({ topic: 'offerings', ids });
        return () => undefined;
      },
    };
    new ReloadOfferingsOnReplicaNews(
      replicas as Replicas,
      this.offerings,
      this.clock,
      testEnv('unused'),
    ).onModuleInit();
  }

  /** Reasons why lists could not be read, as the row has them. */
  failures(name: string): object {
    return this.snapshot.servers.get(serverIdOf(name))?.listFailures ?? {};
  }

  private noteFailure({ serverId, kind, reason }: SetListFailure): void {
    const server = this.snapshot.servers.get(serverId);
    if (!server) throw new Error(`no server ${serverId}`);
    const { [kind]: _before, ...others } = server.listFailures;
    const listFailures = reason === null ? others : { ...others, [kind]: reason };
    this.change(server.name, { listFailures });
  }

  async offer(name: string, lists: Lists): Promise<void> {
    this.lists.set(name, lists);
    const id = serverIdOf(name);
    if (!this.sessions.has(id)) this.sessions.set(id, this.sessionOf(name));
    await this.offerings.refresh(id);
  }

  /** Offers every prompt. */
  private screening(): PromptScreening {
    const store = this.store();
    const offersAll: Pick<PromptScreening, 'offered'> = {
      offered: async (serverId, list) => {
        await store.write(serverId, 'prompts', list?.items);
        return list;
      },
    };
    return offersAll as PromptScreening;
  }

  /** Rows that survive a restart of the simulated process. */
  private store(): Pick<OfferingStore, 'load' | 'write' | 'loadInstructions'> {
    const { rows } = this;
    return {
      loadInstructions: () => Promise.resolve(new Map()),
      async *load(serverIds) {
        for (const part of rows.values()) {
          if (serverIds?.includes(part.serverId) !== false) yield part;
        }
      },
      write: (serverId, kind, items) => {
        if (items)
          rows.set(`${serverId} ${kind}`, { serverId, kind, definitions: items.map(json) });
        else rows.delete(`${serverId} ${kind}`);
        return Promise.resolve();
      },
    };
  }

  /** Advances the clock by a minute so that pending warnings are written. */
  async warningsOf(name: string): Promise<readonly string[] | undefined> {
    await this.clock.advance(60_000);
    return this.warned.get(serverIdOf(name));
  }

  lose(name: string): void {
    this.sessions.delete(serverIdOf(name));
    this.change(name, { status: 'ERROR' });
  }

  change(name: string, fields: Partial<CatalogueServer>): void {
    const id = serverIdOf(name);
    const before = this.snapshot.servers.get(id);
    if (!before) throw new Error(`no server ${name}`);
    const previous = this.snapshot;
    this.snapshot = {
      ...previous,
      servers: new Map(previous.servers).set(id, { ...before, ...fields }),
    };
    this.offerings.followServers([...previous.servers.keys()]);
  }

  keys(kind: 'prompts' | 'resources' | 'resourceTemplates'): string[] {
    const member = { prompts: 'name', resources: 'uri', resourceTemplates: 'uriTemplate' }[kind];
    return this.all(kind).map((item) => {
      const key = item[member];
      if (typeof key !== 'string') throw new Error(`an item without ${member}`);
      return key;
    });
  }

  owner(uri: string): string | undefined {
    return this.offerings.ownerOf(uri, EVERYTHING)?.name;
  }

  pages(kind: 'prompts' | 'resources' | 'resourceTemplates') {
    const pages = [this.offerings.viewOf(EVERYTHING).page(kind, undefined)];
    for (;;) {
      const cursor = pages.at(-1)?.get('nextCursor');
      if (cursor === undefined) return pages;
      pages.push(this.offerings.viewOf(EVERYTHING).page(kind, cursor));
    }
  }

  all(kind: 'prompts' | 'resources' | 'resourceTemplates'): JsonObject[] {
    return this.pages(kind).flatMap((page) => page.get(kind) as JsonObject[]);
  }

  /** The items left out while a list is read, by kind. */
  readonly withheld = new Map<ListKind, [name: string, why: string][]>();

  private sessionOf(name: string): UpstreamSession {
    return {
      capabilities: { prompts: {}, resources: {} },
      provenance: Provenance.none,
      listAll: async (kind: ListKind, limits: ListLimits) => {
        for (const what of this.withheld.get(kind) ?? []) limits.onWithheld?.(...what);
        this.listed.push(`${name} ${kind}`);
        const list = this.lists.get(name)?.[kind] ?? [];
        return typeof list === 'function' ? list() : [...list];
      },
    } as unknown as UpstreamSession;
  }
}

beforeAll(() => Logger.overrideLogger(false));

describe('a URI that several servers list', () => {
  const later = async (): Promise<World> => {
    const world = new World(['notes', 'attacker']);
    await world.offer('attacker', {
      resources: [{ ...resource('file:///notes'), title: 'theirs' }],
    });
    await world.offer('notes', { resources: [{ ...resource('file:///notes'), title: 'ours' }] });
    return world;
  };

  it('belongs to the server registered first, regardless of connect order and name', async () => {
    const world = await later();
    expect(world.owner('file:///notes')).toBe('notes');
    expect(world.all('resources')).toEqual([expect.objectContaining({ title: 'ours' })]);
  });

  it('stays with its owner while that server reconnects', async () => {
    const world = await later();
    world.lose('notes');
    expect(world.owner('file:///notes')).toBe('notes');
  });

  it('stays with its owner when servers are renamed', async () => {
    const world = await later();
    world.change('notes', { name: 'zzz' });
    expect(world.owner('file:///notes')).toBe('zzz');
  });

  it('moves to the next server when its owner is disconnected by request', async () => {
    const world = await later();
    world.change('notes', { status: 'DISCONNECTED' });
    expect(world.owner('file:///notes')).toBe('attacker');
    expect(world.all('resources')).toEqual([expect.objectContaining({ title: 'theirs' })]);
  });
});

describe('a URI that no server lists', () => {
  it('belongs to the template with the longest literal prefix', async () => {
    const world = new World(['wide', 'narrow']);
    await world.offer('wide', { resourceTemplates: [template('file:///{+path}')] });
    await world.offer('narrow', { resourceTemplates: [template('file:///notes/{id}')] });
    expect(world.owner('file:///notes/1')).toBe('narrow');
    expect(world.owner('file:///other')).toBe('wide');
  });

  it('belongs to the earliest of equally specific templates', async () => {
    const world = new World(['zeta', 'alpha']);
    await world.offer('alpha', { resourceTemplates: [template('db://{name}')] });
    await world.offer('zeta', { resourceTemplates: [template('db://{id}')] });
    expect(world.owner('db://1')).toBe('zeta');
  });

  it('is requested from the only server with resources, and from none when there are several', async () => {
    const world = new World(['one', 'two']);
    await world.offer('one', { resources: [] });
    expect(world.owner('x://unlisted')).toBe('one');
    await world.offer('two', { resources: [] });
    expect(world.owner('x://unlisted')).toBeUndefined();
    world.lose('one');
    expect(world.owner('x://unlisted')).toBeUndefined();
  });
});

describe('a template', () => {
  it('does not match a URI that is listed', async () => {
    const world = new World(['greedy', 'notes']);
    await world.offer('greedy', { resourceTemplates: [template('file:///notes{+rest}')] });
    await world.offer('notes', { resources: [resource('file:///notes')] });
    expect(world.owner('file:///notes')).toBe('notes');
  });

  it('without a scheme is neither listed nor used', async () => {
    const world = new World(['greedy', 'notes']);
    await world.offer('greedy', {
      resourceTemplates: [template('{+any}'), template('{s}://{+p}')],
    });
    await world.offer('notes', { resources: [resource('file:///notes')] });
    expect(world.owner('file:///notes')).toBe('notes');
    expect(world.owner('other://thing')).toBeUndefined();
    expect(world.all('resourceTemplates')).toEqual([]);
  });

  it('keeps its references for completion when another server lists it as a resource', async () => {
    const world = new World(['attacker', 'files']);
    await world.offer('attacker', { resources: [resource('file:///{path}')] });
    await world.offer('files', { resourceTemplates: [template('file:///{path}')] });
    expect(world.offerings.ownerOfReference('file:///{path}', EVERYTHING)?.name).toBe('files');
  });
});

describe('the lists', () => {
  const many = (server: string, count: number): JsonObject[] =>
    Array.from({ length: count }, (_, i) => ({
      uri: `file:///${server}/${i}`,
      name: 'x'.repeat(400),
    }));

  it('contain every item once, on pages limited in items and bytes', async () => {
    const world = new World(['a', 'b', 'c']);
    for (const name of ['c', 'a', 'b']) await world.offer(name, { resources: many(name, 3_000) });
    const pages = world.pages('resources');
    for (const page of pages) expect(page.bytes.length).toBeLessThan(PAGE_BYTES + 100);
    expect(pages).toHaveLength(9);
    expect(new Set(world.keys('resources')).size).toBe(9_000);
  });

  it('are serialised once for all readers, also after changes that are not visible', async () => {
    const world = new World(['a', 'b']);
    await world.offer('a', { resources: many('a', 2_000) });
    const before = world.pages('resources');
    world.change('b', { status: 'ERROR' });
    await world.offer('b', { prompts: [{ name: 'p' }] });
    expect(world.pages('resources').every((page, i) => page === before[i])).toBe(true);
  });

  it('keep their items when a server cannot list, and do not wait for it', async () => {
    const world = new World(['bad', 'good']);
    await world.offer('bad', { prompts: [{ name: 'old' }], resources: [resource('a://1')] });
    const stuck = world.offer('bad', {
      prompts: () => Promise.reject(new Error('planned')),
      resources: () => new Promise(() => undefined),
      resourceTemplates: [template('a://{id}')],
    });
    await world.offer('good', { resources: [resource('b://1')] });
    await eventually(() => expect(world.all('resourceTemplates')).toHaveLength(1));
    expect(world.keys('prompts')).toEqual(['bad__old']);
    expect(world.keys('resources')).toEqual(['a://1', 'b://1']);
    void stuck;
  });

  it('are limited in bytes, with an eighth for one server', async () => {
    const world = new World(['a', 'b'], { MCP_AGGREGATOR_MAX_OFFERED_BYTES: '80000' });
    await world.offer('a', { resources: many('a', 1_000) });
    await world.offer('b', { resources: many('b', 1) });
    const kept = world.keys('resources');
    expect(kept.filter((uri) => uri.startsWith('file:///a/')).length).toBeLessThan(25);
    expect(kept).toContain('file:///b/0');
  });

  it('send a change notification only after a change', async () => {
    const world = new World(['a']);
    await world.offer('a', { resources: [resource('a://1')], prompts: [{ name: 'p' }] });
    expect(world.told).toEqual(expect.arrayContaining(['resources', 'prompts']));
    world.told.length = 0;
    await world.offer('a', { resources: [resource('a://1')], prompts: [{ name: 'p' }] });
    world.lose('a');
    expect(world.told).toEqual([]);
    world.change('a', { status: 'DISCONNECTED' });
    expect(world.told).toEqual(['prompts', 'resources']);
  });

  it('are read once more after a burst of changes, not once for each', async () => {
    const world = new World(['a']);
    await world.offer('a', {});
    world.listed.length = 0;
    const id = serverIdOf('a');
    await Promise.all(Array.from({ length: 500 }, () => world.offerings.refresh(id, ['prompts'])));
    expect(world.listed).toEqual(['a prompts', 'a prompts']);
  });

  it('leave out invalid items, and no others', async () => {
    const world = new World(['a']);
    let deep: JsonObject = {};
    for (let i = 0; i < 100; i++) deep = { deep };
    await world.offer('a', {
      resources: [
        { name: 'without a URI' },
        { uri: 'a://deep', deep },
        { uri: `a://${'x'.repeat(3_000)}` },
        { uri: 'a://large', text: 'x'.repeat(PAGE_BYTES) },
        resource('a://good'),
      ],
    });
    expect(world.all('resources')).toEqual([resource('a://good')]);
  });
});

describe('items that some clients refuse', () => {
  it('are repaired where that is certain, else left out, and named in the warnings', async () => {
    const world = new World(['a']);
    await world.offer('a', {
      prompts: [
        { name: 'null', title: null, arguments: null },
        { name: 'loose', arguments: [{ name: 'x', description: 7, required: null }] },
        { name: 'nameless', arguments: [{ required: true }] },
        { name: 'good', arguments: [{ name: 'x', required: true }] },
      ],
      resources: [{ uri: 'a://x', mimeType: 7, annotations: { priority: 2 }, size: 'big' }],
      resourceTemplates: [{ uriTemplate: 'a://{x}', name: 'x', _meta: [] }],
    });
    expect(world.all('prompts')).toEqual([
      { name: 'a__good', arguments: [{ name: 'x', required: true }] },
      { name: 'a__loose', arguments: [{ name: 'x' }] },
      { name: 'a__null' },
    ]);
    expect(world.all('resources')).toEqual([{ uri: 'a://x', name: 'a://x', annotations: {} }]);
    expect(world.all('resourceTemplates')).toEqual([{ uriTemplate: 'a://{x}', name: 'x' }]);
    expect(await world.warningsOf('a')).toEqual([
      expect.stringMatching(/^1 prompt published in a repaired form, because its title .*: null$/),
      expect.stringMatching(/^1 prompt published in a repaired form, .*: loose$/),
      '1 prompt not published, because its arguments[0] has no name: nameless',
      expect.stringMatching(/^1 resource published in a repaired form, .*: a:\/\/x$/),
      expect.stringMatching(/^1 resource template published in a repaired form, .*: a:\/\/\{x\}$/),
    ]);
  });
});

describe('a prompt', () => {
  const named = async (): Promise<World> => {
    const world = new World(['a', 'b']);
    await world.offer('a', { prompts: [{ name: 'x' }, { name: 'own' }] });
    await world.offer('b', { prompts: [{ name: 'x' }, { name: 'a__x' }, { name: 'a.x' }] });
    return world;
  };
  const find = (world: World, name: string): string | undefined => {
    const found = world.offerings.viewOf(EVERYTHING).findPrompt(name);
    return found && `${found.server.name} ${found.originalName}`;
  };

  it('is found by its listed name, its canonical name and a unique bare name', async () => {
    const world = await named();
    expect(find(world, 'a__x')).toBe('a x');
    expect(find(world, 'b.x')).toBe('b x');
    expect(find(world, 'own')).toBe('a own');
    expect(find(world, 'x')).toBeUndefined();
    const found = new Set(world.keys('prompts').map((name) => find(world, name)));
    expect(found).toEqual(new Set(['a own', 'a x', 'b a.x', 'b a__x', 'b x']));
  });

  it('is not replaced by a prompt of another server with a similar name', async () => {
    const world = await named();
    world.change('a', { status: 'DISCONNECTED' });
    expect(find(world, 'a__x')).toBeUndefined();
    expect(find(world, 'a.x')).toBeUndefined();
  });

  it('is ordered by server and name across pages, whatever its client name', async () => {
    const world = new World(['a', 'a-b', 'a_long_name_of_a_server_that_is_cut_off']);
    for (const name of ['a', 'a-b', 'a_long_name_of_a_server_that_is_cut_off']) {
      const prompts = Array.from({ length: 900 }, (_, i) => ({ name: `p${i} ${name}` }));
      await world.offer(name, { prompts });
    }
    expect(world.pages('prompts')).toHaveLength(3);
    const names = world.keys('prompts');
    expect(new Set(names).size).toBe(2_700);
    expect(new Set(names.map((name) => find(world, name))).size).toBe(2_700);
  });

  it('has the new name of a renamed server in the list', async () => {
    const world = await named();
    world.change('a', { name: 'renamed' });
    expect(find(world, 'renamed__own')).toBe('renamed own');
  });
});

describe('after a restart', () => {
  const restarted = async (): Promise<World> => {
    const before = new World(['notes', 'attacker']);
    await before.offer('notes', {
      prompts: [{ name: 'p' }],
      resources: [{ ...resource('file:///notes'), title: 'ours' }],
      resourceTemplates: [template('file:///notes/{id}')],
    });
    const world = new World(['notes', 'attacker']);
    for (const [key, row] of before.rows) world.rows.set(key, row);
    await world.offerings.onModuleInit();
    return world;
  };

  it('the lists are available before any server is connected', async () => {
    const world = await restarted();
    expect(world.keys('prompts')).toEqual(['notes__p']);
    expect(world.keys('resources')).toEqual(['file:///notes']);
    expect(world.keys('resourceTemplates')).toEqual(['file:///notes/{id}']);
  });

  it('a URI stays with its owner although a later server connects first', async () => {
    const world = await restarted();
    await world.offer('attacker', {
      resources: [resource('file:///notes')],
      resourceTemplates: [template('file:///notes/{any}')],
    });
    expect(world.owner('file:///notes')).toBe('notes');
    expect(world.owner('file:///notes/1')).toBe('notes');
  });

  it('a server with an unchanged list changes nothing', async () => {
    const world = await restarted();
    world.told.length = 0;
    await world.offer('notes', {
      prompts: [{ name: 'p' }],
      resources: [{ ...resource('file:///notes'), title: 'ours' }],
      resourceTemplates: [template('file:///notes/{id}')],
    });
    expect(world.told).toEqual([]);
  });

  it('another replica shows the lists that this one stored', async () => {
    const [first, second] = [new World(['a']), new World(['a'])];
    await second.offerings.onModuleInit();
    await first.offer('a', { resources: [resource('a://1')] });
    for (const [key, row] of first.rows) second.rows.set(key, row);
    second.tellReplica([serverIdOf('a')]);
    await eventually(() => expect(second.keys('resources')).toEqual(['a://1']));
    second.rows.clear();
    second.tellReplica([serverIdOf('a')]);
    await eventually(() => expect(second.keys('resources')).toEqual([]));
  });
});

describe('the warnings of a server', () => {
  it('name items that an earlier registered server already lists', async () => {
    const world = new World(['notes', 'attacker']);
    await world.offer('attacker', {
      resources: [resource('file:///notes'), resource('file:///own')],
      resourceTemplates: [template('file:///{+path}')],
    });
    await world.offer('notes', {
      resources: [resource('file:///notes')],
      resourceTemplates: [template('file:///{+path}')],
    });
    const why =
      'not at /mcp, because notes was registered first and lists the same; at /mcp/servers/attacker only';
    expect(await world.warningsOf('attacker')).toEqual([
      `1 resource ${why}: file:///notes`,
      `1 resource template ${why}: file:///{+path}`,
    ]);
    expect(await world.warningsOf('notes')).toEqual([]);
    world.change('notes', { status: 'DISCONNECTED' });
    expect(await world.warningsOf('attacker')).toEqual([]);
  });

  it('name items that were too large to read', async () => {
    const world = new World(['a']);
    world.withheld.set('prompts', [['huge', 'it is longer than 262144 characters']]);
    await world.offer('a', { prompts: [] });
    expect(await world.warningsOf('a')).toEqual([
      'not offered: huge: it is longer than 262144 characters',
    ]);
  });

  it('name every item that is not published', async () => {
    const world = new World(['a']);
    const resources = Array.from({ length: 10_050 }, (_, i) => resource(`a://${i}`));
    await world.offer('a', { resources, resourceTemplates: [template('{+any}')] });
    const [overLimit, templates] = await eventually(async () => {
      const warnings = await world.warningsOf('a');
      expect(warnings).toHaveLength(2);
      return warnings ?? [];
    });
    expect(overLimit).toMatch(/^50 resources not published, over the limit of 10000 a server: /);
    for (let i = 10_000; i < 10_050; i++) expect(overLimit).toContain(`a://${i}`);
    expect(templates).toMatch(/^1 resource template not published.*: \{\+any\}$/);
  });

  it('report a list that could not be read, until it can be read', async () => {
    const world = new World(['a']);
    let fails = true;
    const prompts = (): Promise<JsonObject[]> =>
      fails ? Promise.reject(new Error('planned')) : Promise.resolve([{ name: 'p' }]);
    await world.offer('a', { prompts });
    expect(world.failures('a')).toEqual({ prompts: 'they could not be read' });
    fails = false;
    await world.clock.advance(60_000);
    expect(world.failures('a')).toEqual({});
    expect(world.keys('prompts')).toEqual(['a__p']);
  });

  it('keep the previous lists when one cannot be read again', async () => {
    const world = new World(['a']);
    await world.offer('a', { prompts: [{ name: 'p' }], resources: [resource('a://1')] });
    await world.offer('a', {
      prompts: () => Promise.reject(new Error('planned')),
      resources: [resource('a://2')],
    });
    expect(world.failures('a')).toEqual({ prompts: 'they could not be read' });
    expect(world.keys('prompts')).toEqual(['a__p']);
    expect(world.keys('resources')).toEqual(['a://2']);
  });
});

describe('a DEGRADED server', () => {
  it('is asked for its lists only once it has recovered', async () => {
    const world = new World(['a']);
    await world.offer('a', { prompts: [{ name: 'old' }] });
    world.change('a', { status: 'DEGRADED' });
    world.listed.length = 0;
    await world.offer('a', { prompts: [{ name: 'new' }] });
    expect(world.listed).toEqual([]);
    expect(world.keys('prompts')).toEqual(['a__old']);
    world.change('a', { status: 'CONNECTED' });
    await eventually(() => expect(world.keys('prompts')).toEqual(['a__new']));
  });
});
