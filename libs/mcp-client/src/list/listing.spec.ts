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
});
