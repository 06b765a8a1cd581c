import { jest } from '@jest/globals';
import { type JsonObject, SharedBudget, UNCOUNTED, RawJsonObject } from '@app/platform';
import { ListAccount, listAll, weightOf } from './listing.js';
import type { ListKind } from '../upstream.js';

const limits = { maxItems: 1_000, maxPages: 1_000, timeoutMs: 1_000 };

/** A server that lists these pages and counts the requests for them. */
function serverOf(page: (nth: number) => JsonObject): {
  asked: number;
  requestBytes(): Promise<RawJsonObject>;
} {
  return {
    asked: 0,
    requestBytes() {
      return Promise.resolve(RawJsonObject.of(page(this.asked++)));
    },
  };
}

const endless = (bytes: number, kind: ListKind = 'tools') =>
  serverOf((nth) => ({
    [kind]: [{ name: `t${nth}`, text: 'x'.repeat(bytes) }],
    nextCursor: `c${nth}`,
  }));

describe(listAll.name, () => {
  it('reads every page', async () => {
    const pages = serverOf((nth) => ({
      tools: [{ name: `t${nth}` }],
      ...(nth < 2 && { nextCursor: `${nth}` }),
    }));
    const account = new ListAccount(10_000, UNCOUNTED);
    expect(await listAll(pages, 'tools', limits, account)).toHaveLength(3);
  });

  it('stops at the byte limit for the lists of one server, and names the setting', async () => {
    const server = endless(9_000);
    const account = new ListAccount(100_000, UNCOUNTED);
    await expect(listAll(server, 'tools', limits, account)).rejects.toThrow(
      'With tools/list, the lists of this server are larger than allowed (MCP_AGGREGATOR_MAX_LIST_BYTES)',
    );
    expect(server.asked).toBeLessThan(12);
  });

  it('counts all lists of a server together, and a list that is read again once', async () => {
    const account = new ListAccount(100_000, UNCOUNTED);
    const once = (kind: ListKind) => serverOf(() => ({ [kind]: [{ name: 'x'.repeat(60_000) }] }));
    for (let i = 0; i < 3; i++) await listAll(once('tools'), 'tools', limits, account);
    await expect(listAll(once('prompts'), 'prompts', limits, account)).rejects.toThrow(
      'prompts/list',
    );
  });

  it('shares one budget with the lists of other servers, and releases what it does not keep', async () => {
    const budget = new SharedBudget(100_000);
    const account = new ListAccount(1_000_000, budget.share());
    await expect(listAll(endless(9_000), 'tools', limits, account)).rejects.toThrow(
      'the lists of all servers',
    );
    expect(budget.held).toBe(0);
  });

  it('counts values by their size in memory: three bytes are an object', async () => {
    const server = serverOf(() => ({ tools: Array.from({ length: 10_000 }, () => ({})) }));
    const account = new ListAccount(100_000, UNCOUNTED);
    await expect(listAll(server, 'tools', limits, account)).rejects.toThrow('larger than allowed');
    expect(weightOf(Buffer.from('["a,b:{[\\",,,"]'))).toBe(15 + 2 * 64);
  });

  it('refuses a cursor that is too long to send back', async () => {
    const server = serverOf(() => ({ tools: [], nextCursor: 'x'.repeat(10_000) }));
    await expect(
      listAll(server, 'tools', limits, new ListAccount(1_000_000, UNCOUNTED)),
    ).rejects.toThrow('a cursor of more than 8192 characters');
    expect(server.asked).toBe(1);
  });

  it.each([
    ['is too large', { name: 'big', description: 'x'.repeat(300_000) }, 'big'],
    ['is far too large', { name: 'big', description: 'x'.repeat(9_000_000) }, 'big'],
    ['has a name that is too large', { name: 'n'.repeat(300_000) }, 'n'.repeat(100)],
    ['is too large and has no name', ['x'.repeat(300_000)], 'without a name'],
  ])('leaves out an item that %s, and names it', async (_what, item, name) => {
    for (const kind of ['tools', 'prompts'] as const) {
      const left: string[] = [];
      const server = serverOf(() => ({ [kind]: [item, { name: 'small' }] }));
      const account = new ListAccount(20_000_000, UNCOUNTED);
      const onWithheld = (...what: string[]): unknown => left.push(what.join(': '));
      const listed = await listAll(server, kind, { ...limits, onWithheld }, account);
      expect(listed).toEqual([{ name: 'small' }]);
      expect(left).toEqual([`${name}: it is longer than 262144 characters`]);
    }
  });

  it('measures an item in characters, however these are escaped', async () => {
    const written = `{"prompts":[{"name":"text","description":"${'\\u4f60'.repeat(200_000)}"}]}`;
    const page = RawJsonObject.read(Buffer.from(written));
    if (!page) throw new Error('it is not JSON');
    const account = new ListAccount(20_000_000, UNCOUNTED);
    const server = { requestBytes: () => Promise.resolve(page) };
    const [item] = await listAll(server, 'prompts', limits, account);
    expect(item).toEqual({ name: 'text', description: '你'.repeat(200_000) });
  });

  it('stops parsing a page when it has enough items', async () => {
    const account = new ListAccount(20_000_000, UNCOUNTED);
    const server = serverOf(() => ({
      tools: Array.from({ length: 10 }, (_, i) => ({ name: `${i}` })),
    }));
    const listed = await listAll(server, 'tools', { ...limits, maxItems: 3 }, account);
    expect(listed.map(({ name }) => name)).toEqual(['0', '1', '2']);
  });

  const roomy = (): ListAccount => new ListAccount(20_000_000, UNCOUNTED);

  it('asks for the first page without a cursor, and for the next with that of the last', async () => {
    const asked: unknown[] = [];
    const server = {
      requestBytes: (...request: unknown[]) => {
        asked.push(request.slice(0, 2));
        const nextCursor = asked.length < 3 ? `c${asked.length}` : '';
        return Promise.resolve(RawJsonObject.of({ resourceTemplates: [], nextCursor }));
      },
    };
    await listAll(server, 'resourceTemplates', limits, roomy());
    expect(asked).toEqual([
      ['resources/templates/list', {}],
      ['resources/templates/list', { cursor: 'c1' }],
      ['resources/templates/list', { cursor: 'c2' }],
    ]);
  });

  it('reads no more pages once a cursor is no text', async () => {
    const server = serverOf(() => ({ tools: [{ name: 'a' }], nextCursor: 7 }));
    expect(await listAll(server, 'tools', limits, roomy())).toHaveLength(1);
    expect(server.asked).toBe(1);
  });

  it('gives all pages together the time', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
    const times: number[] = [];
    const server = {
      requestBytes: (_method: string, _params: unknown, { timeoutMs }: { timeoutMs: number }) => {
        times.push(timeoutMs);
        jest.advanceTimersByTime(400);
        const more = times.length < 4 ? { nextCursor: `${times.length}` } : {};
        return Promise.resolve(RawJsonObject.of({ tools: [], ...more }));
      },
    };
    await listAll(server, 'tools', limits, roomy());
    jest.useRealTimers();
    expect(times).toEqual([1_000, 600, 200, 1]);
  });

  it('ends a list whose pages lead back to an earlier one', async () => {
    const server = serverOf((nth) => ({ tools: [], nextCursor: `${nth % 3}` }));
    await expect(listAll(server, 'tools', limits, roomy())).rejects.toThrow(
      'tools/list runs in a circle',
    );
    expect(server.asked).toBe(4);
  });

  it('ends a list of too many pages', async () => {
    const server = endless(10);
    const few = { ...limits, maxPages: 3 };
    await expect(listAll(server, 'tools', few, roomy())).rejects.toThrow(
      'tools/list has more than 3 pages',
    );
    expect(server.asked).toBe(3);
  });

  it('refuses a page without a list', async () => {
    for (const page of [{}, { tools: {} }, { tools: 'none' }]) {
      const server = serverOf(() => page);
      await expect(listAll(server, 'tools', limits, roomy())).rejects.toThrow(
        'tools/list has no tools',
      );
    }
  });

  it('asks for no more pages when it has enough items', async () => {
    const server = endless(10);
    const listed = await listAll(server, 'tools', { ...limits, maxItems: 3 }, roomy());
    expect([listed.length, server.asked]).toEqual([3, 3]);
    const pairs = serverOf((nth) => ({ tools: [{}, {}], nextCursor: `${nth}` }));
    expect(await listAll(pairs, 'tools', { ...limits, maxItems: 3 }, roomy())).toHaveLength(3);
  });

  it('releases the weight of a list that is read again, and only that', async () => {
    const budget = new SharedBudget(1_000_000);
    const account = new ListAccount(1_000_000, budget.share());
    const once = (kind: ListKind, chars: number) =>
      serverOf(() => ({ [kind]: [{ name: 'x'.repeat(chars) }] }));
    await listAll(once('tools', 1_000), 'tools', limits, account);
    const first = budget.held;
    await listAll(once('prompts', 3_000), 'prompts', limits, account);
    const both = budget.held;
    await listAll(once('tools', 1_000), 'tools', limits, account);
    expect([first > 1_000, both > first + 3_000, budget.held]).toEqual([true, true, both]);
  });

  it('allows lists of exactly the limit', async () => {
    const page = { tools: [{ name: 'a' }] };
    const weight = weightOf(RawJsonObject.of(page).bytes);
    const exact = new ListAccount(weight, UNCOUNTED);
    await expect(
      listAll(
        serverOf(() => page),
        'tools',
        limits,
        exact,
      ),
    ).resolves.toHaveLength(1);
    const less = new ListAccount(weight - 1, UNCOUNTED);
    await expect(
      listAll(
        serverOf(() => page),
        'tools',
        limits,
        less,
      ),
    ).rejects.toThrow('larger');
  });

  it('keeps an item of exactly the longest size, and a tool however its text is escaped', async () => {
    const keptOf = async (kind: ListKind, written: string): Promise<number> => {
      const page = RawJsonObject.read(Buffer.from(`{"${kind}":[${written}]}`));
      if (!page) throw new Error('it is not JSON');
      const server = { requestBytes: () => Promise.resolve(page) };
      return (await listAll(server, kind, limits, roomy())).length;
    };
    const ofSize = (chars: number): string => `{"name":"${'x'.repeat(chars - 11)}"}`;
    for (const kind of ['tools', 'prompts'] as const) {
      expect(await keptOf(kind, ofSize(262_144))).toBe(1);
      expect(await keptOf(kind, ofSize(262_145))).toBe(0);
      expect(await keptOf(kind, `{"name":"${'\\u4f60'.repeat(262_133)}"}`)).toBe(1);
      expect(await keptOf(kind, `{"name":"${'\\u4F60'.repeat(262_134)}"}`)).toBe(0);
      expect(await keptOf(kind, `{"name":"${'\\u4f60'.repeat(300_000)}"}`)).toBe(0);
    }
  });

  it('names what it leaves out by its URI where it has no name', async () => {
    const text = 'x'.repeat(300_000);
    for (const [kind, item] of [
      ['resources', { uri: 'file:///a', text }],
      ['resourceTemplates', { uriTemplate: 'file:///a', text }],
    ] as const) {
      const left: string[] = [];
      const onWithheld = (name: string): unknown => left.push(name);
      const server = serverOf(() => ({ [kind]: [item] }));
      await listAll(server, kind, { ...limits, onWithheld }, roomy());
      expect(left).toEqual(['file:///a']);
    }
  });

  it('leaves an item out silently when that is not asked for', async () => {
    const server = serverOf(() => ({ tools: [{ name: 'x'.repeat(300_000) }] }));
    await expect(listAll(server, 'tools', limits, roomy())).resolves.toEqual([]);
  });

  it('reads an item that is no object as an empty one', async () => {
    const server = serverOf(() => ({ prompts: [7, { name: 'a' }] }));
    expect(await listAll(server, 'prompts', limits, roomy())).toEqual([{}, { name: 'a' }]);
  });
});
