import { CommandBus, UnhandledExceptionBus } from '@nestjs/cqrs';
import { SYSTEM } from '@app/access';
import { SkillMap } from '@app/classification';
import { Catalogue } from '@app/catalogue';
import { ServerRegistered, ServerStatusChanged } from '@app/events';
import { Database, type JsonObject, Signals } from '@app/platform';
import { ServerNotFound } from '@app/registry';
import { SessionPool } from '@app/sessions';
import { ToolVectors } from '@app/vectors';
import { randomUUID } from 'node:crypto';
import { DiscoverTools } from '../../libs/discovery/src/discover-tools.command.js';
import { RemoveServer } from '../../libs/registry/src/change/remove-server.command.js';
import { UpdateServer } from '../../libs/registry/src/change/update-server.command.js';
import { startApp, type TestApp } from '../support/app.js';
import { ROWS_ONLY } from '../support/rows.js';
import { eventually } from '../support/eventually.js';

const INTERLEAVINGS = 1_000;
const AT_ONCE = 4;
const CHECK_EVERY = 50;
const SERVERS = 5;
const WORDS = ['read', 'file', 'weather', 'invoice', 'song', 'chess', 'patient', 'tax'];

/** Seeded, so that a failure can be reproduced. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** Changing a server that is being removed may return "not found". */
function unexpected(act: PromiseSettledResult<unknown>): unknown[] {
  return act.status === 'fulfilled' || act.reason instanceof ServerNotFound ? [] : [act.reason];
}

describe('refreshes, removals, renames and disconnects in any order', () => {
  let service: TestApp;
  const listed = new Map<string, JsonObject[]>();
  const roll = dice(20_261_118);
  const unhandled: unknown[] = [];

  beforeAll(async () => {
    service = await startApp(ROWS_ONLY);
    get(UnhandledExceptionBus).subscribe(({ exception }) => unhandled.push(exception));
    // Servers with configurable tool lists, without a process for each.
    Object.assign(service.app.get(SessionPool, { strict: false }), {
      get: (id: string) => ({ listAll: () => Promise.resolve(listed.get(id) ?? []) }),
    });
  });
  afterAll(() => service.close());

  const get = <T>(type: new (...args: never[]) => T): T =>
    service.app.get<T>(type, { strict: false });
  const rows = <T>(sql: string, values: unknown[] = []): Promise<T[]> =>
    get(Database).direct.query(sql, values);
  const someTools = (): JsonObject[] =>
    Array.from({ length: roll(8) }, (_, i) => ({
      name: `${WORDS[i]}_tool`,
      description: `Does ${WORDS[roll(WORDS.length)]} and ${WORDS[roll(WORDS.length)]}`,
    }));

  async function add(): Promise<void> {
    const id = randomUUID();
    listed.set(id, someTools());
    await rows(
      `INSERT INTO mcp.external_servers (id, name, transport_type, connection_config, status)
       VALUES ($1, $2, 'STDIO', '{}', 'CONNECTED')`,
      [id, `server-${id.slice(0, 8)}`],
    );
    await get(Signals).tell(new ServerRegistered(id));
    await get(CommandBus).execute(new DiscoverTools(id));
  }

  async function act(): Promise<void> {
    const ids = [...listed.keys()];
    const id = ids[roll(ids.length)];
    if (id === undefined || ids.length < SERVERS) return add();
    const commands = get(CommandBus);
    switch (roll(5)) {
      case 0:
        listed.delete(id);
        return commands.execute(new RemoveServer(id, SYSTEM));
      case 1:
        await commands.execute(new UpdateServer(id, { name: `server-${roll(1e9)}` }, SYSTEM));
        return undefined;
      case 2: {
        const status = ['CONNECTED', 'DISCONNECTED', 'DEGRADED', 'ERROR'][roll(4)] ?? 'ERROR';
        await rows('UPDATE mcp.external_servers SET status = $2 WHERE id = $1', [id, status]);
        return get(Signals).tell(new ServerStatusChanged(id, 'CONNECTED', status));
      }
      default:
        listed.set(id, someTools());
        return commands.execute(new DiscoverTools(id));
    }
  }

  async function expectConsistent(): Promise<void> {
    const stored = await rows<{ id: number; name: string; skill_ids: string[] }>(
      'SELECT id, name, content_hash, skill_ids FROM mcp.tools ORDER BY id',
    );
    const { current } = get(Catalogue);
    const pictured = [...current.toolsById.values()]
      .map((tool) => ({ id: tool.id, name: tool.name, skill_ids: tool.skillIds }))
      .sort((a, b) => a.id - b.id);
    expect(pictured).toEqual(stored.map(({ id, name, skill_ids }) => ({ id, name, skill_ids })));
    const servers = await rows<{ id: string; name: string; status: string }>(
      'SELECT id, name, status FROM mcp.external_servers ORDER BY id',
    );
    expect(
      [...current.servers.values()]
        .map(({ id, name, status }) => ({ id, name, status }))
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
    ).toEqual(servers);
    const ids = stored.map((tool) => tool.id);
    const { hits } = await get(ToolVectors).search(['read a file'], 10_000, {});
    expect(hits?.[0]?.map((hit) => hit.id).sort((a, b) => a - b)).toEqual(ids);
    const members = await rows<{ skill_id: string; count: number }>(
      'SELECT skill_id, count(*)::int AS count FROM mcp.tool_skill_assignments GROUP BY 1 ORDER BY 1',
    );
    expect(
      get(SkillMap)
        .current.filter((skill) => skill.toolCount > 0)
        .map((skill) => ({ skill_id: skill.id, count: skill.toolCount })),
    ).toEqual(members);
  }

  it(`end consistent, ${INTERLEAVINGS} times`, async () => {
    for (let done = 0; done < INTERLEAVINGS; done += AT_ONCE) {
      const acts = await Promise.allSettled(Array.from({ length: AT_ONCE }, act));
      expect(acts.flatMap(unexpected)).toEqual([]);
      if (done % CHECK_EVERY < AT_ONCE) await eventually(expectConsistent);
    }
    await eventually(expectConsistent);
    for (const id of listed.keys()) await get(CommandBus).execute(new RemoveServer(id, SYSTEM));
    await eventually(expectConsistent);
    expect(await rows('SELECT 1 FROM mcp.tools WHERE is_external')).toEqual([]);
    expect(unhandled).toEqual([]);
  });
});
