import { type Clock, DatabaseUnavailable, parseEnv } from '@app/platform';
import { createHash } from 'node:crypto';
import { noRows, type TokenRows, tokensOn } from '../../../../test/support/tokens.js';
import type { Tokens } from '../authenticate/tokens.js';
import { newSessionId } from './browser-session.js';
import type { BrowserSessionStore, ReadSession } from './browser-session.store.js';
import { BrowserSessionsController } from './browser-sessions.controller.js';
import { BrowserSessions } from './browser-sessions.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const TOKEN = 'token-of-operators';
const HOUR = 3_600_000;

describe(BrowserSessions.name, () => {
  let monotonic: number;
  let now: number;
  let rows: Map<string, ReadSession>;
  let reads: (readonly string[])[];
  let used: string[];
  let tokenRows: TokenRows;
  let tokens: Tokens;
  let sessions: BrowserSessions;
  /** The next reads wait for these after they have read. */
  let waits: Promise<void>[];
  let outage: Error | undefined;

  async function start(settings: Record<string, string> = {}): Promise<void> {
    const env = parseEnv({ MCP_AGGREGATOR_TOKENS: `ops:admin:${TOKEN}`, ...settings });
    tokenRows = noRows();
    tokens = tokensOn(env, tokenRows);
    await tokens.load();
    const store: Pick<BrowserSessionStore, 'find' | 'noteUse'> = {
      find: async (idHashes) => {
        reads.push(idHashes);
        if (outage) throw outage;
        const found = idHashes.flatMap((idHash) => rows.get(idHash) ?? []);
        await waits.shift();
        return found;
      },
      noteUse: async (idHashes) => {
        if (outage) throw outage;
        used.push(...idHashes);
      },
    };
    const clock = { now: () => new Date(now), monotonic: () => monotonic };
    sessions = new BrowserSessions(env, store as BrowserSessionStore, tokens, clock as Clock);
  }

  beforeEach(async () => {
    monotonic = 0;
    now = Date.now();
    [rows, reads, used, waits, outage] = [new Map(), [], [], [], undefined];
    await start();
  });

  function begin(more: Partial<ReadSession> = {}): { id: string; idHash: string } {
    const id = newSessionId();
    const idHash = sha256(id);
    const expiresAt = new Date(now + HOUR);
    rows.set(idHash, { idHash, tokenHash: sha256(TOKEN), expiresAt, isIdle: false, ...more });
    return { id, idHash };
  }

  const find = async (id: string, headers: Record<string, string> = {}): Promise<string> => {
    const cookie = `switchboard_session=${id}`;
    const request = { method: 'GET', host: 'localhost', headers: { cookie, ...headers } };
    const session = await sessions.of(request);
    return session ? session.principal.name : 'none';
  };

  it('finds a session once a second in the rows, and in between in memory', async () => {
    const { id, idHash } = begin();
    expect(await find(id)).toBe('ops');
    monotonic = 999;
    expect(await find(id)).toBe('ops');
    expect(reads).toEqual([[idHash]]);
    rows.clear();
    monotonic = 1_000;
    expect(await find(id)).toBe('none');
  });

  it('finds no session of a token that is not accepted', async () => {
    const { id } = begin({ tokenHash: sha256('a-token-that-was-revoked') });
    expect(await find(id)).toBe('none');
  });

  it('ends a session when its time is over, also while it is in memory', async () => {
    const { id } = begin();
    expect(await find(id)).toBe('ops');
    now += HOUR;
    expect(await find(id)).toBe('none');
    expect(reads).toHaveLength(1);
  });

  it('expires with its token if that is earlier', async () => {
    const until = new Date(now + 60_000);
    tokenRows.issued = [
      {
        id: 'id',
        name: 'ci',
        scopes: ['call'],
        hash: sha256('secret of ci'),
        previousHash: null,
        previousUntil: null,
        createdBy: 'ops',
        createdAt: new Date(now),
        expiresAt: until,
        view: null,
        lastUsedAt: null,
      },
    ];
    await tokens.reload();
    const { id } = begin({ tokenHash: sha256('secret of ci') });
    const cookie = `switchboard_session=${id}`;
    const session = await sessions.of({ method: 'GET', host: 'localhost', headers: { cookie } });
    expect(session).toMatchObject({ expiresAt: until, principal: { name: 'ci' } });
  });

  it('reads the tokens again before it refuses a session: another replica may have issued one', async () => {
    const { id } = begin({ tokenHash: sha256('issued a moment ago') });
    let reloads = 0;
    tokens.reload = async () => void reloads++;
    expect(await find(id)).toBe('none');
    expect(reloads).toBe(1);
    expect(await find(newSessionId())).toBe('none');
    expect(reloads).toBe(1);
  });

  it('reads what many ask for at the same time with one statement', async () => {
    let answer = (): void => undefined;
    waits.push(new Promise((resolve) => (answer = resolve)));
    const first = begin();
    const asked = [find(first.id)];
    const others = Array.from({ length: 50 }, () => begin());
    asked.push(...others.map(({ id }) => find(id)), find(newSessionId()));
    answer();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['ops', 'none']));
    expect(reads.map((idHashes) => idHashes.length)).toEqual([1, 51]);
  });

  it('does not take rows that were read before the session ended', async () => {
    const { id, idHash } = begin();
    let answer = (): void => undefined;
    waits.push(new Promise((resolve) => (answer = resolve)));
    const finding = find(id);
    rows.delete(idHash);
    sessions.forget(idHash);
    answer();
    expect(await finding).toBe('none');
  });

  it('keeps known sessions while the database is gone, and takes no others', async () => {
    const { id } = begin();
    expect(await find(id)).toBe('ops');
    outage = new DatabaseUnavailable('unreachable');
    monotonic = 5_000;
    expect(await find(id)).toBe('ops');
    await expect(find(begin().id)).rejects.toThrow(DatabaseUnavailable);
    now += HOUR;
    expect(await find(id)).toBe('none');
  });

  it('notes the use of a session that was idle', async () => {
    const { id, idHash } = begin({ isIdle: true });
    await find(id);
    await find(begin().id);
    expect(used).toEqual([idHash]);
  });

  it('ignores the cookie of a request that another page may have caused', async () => {
    const { id } = begin();
    expect(await find(id, { 'sec-fetch-site': 'cross-site' })).toBe('none');
    expect(await find(id, { origin: 'http://localhost:3000' })).toBe('none');
    expect(reads).toEqual([]);
  });

  it('knows no sessions when the console is off', async () => {
    await start({ MCP_AGGREGATOR_CONSOLE: 'false' });
    expect(await find(begin().id)).toBe('none');
    expect(reads).toEqual([]);
  });
});

describe(BrowserSessionsController.name, () => {
  it('asks once in five seconds whether there are passwords, and again after a failure', async () => {
    let now = 0;
    const answers = [Promise.reject(new Error('gone')), false, true];
    const controller = new BrowserSessionsController(
      {} as never,
      {} as never,
      {} as never,
      { exist: async () => answers.shift() } as never,
      parseEnv({}),
      { monotonic: () => now } as Clock,
    );
    await expect(controller.getWays()).rejects.toThrow('gone');
    const none = { password: false, provider: null };
    expect(await Promise.all([controller.getWays(), controller.getWays()])).toEqual([none, none]);
    now = 4_999;
    expect(await controller.getWays()).toEqual(none);
    now = 5_000;
    expect(await controller.getWays()).toEqual({ password: true, provider: null });
    expect(answers).toEqual([]);
  });
});
