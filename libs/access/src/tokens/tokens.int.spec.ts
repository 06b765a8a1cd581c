import { type Clock, type Database, FailPoints, parseEnv, type Replicas } from '@app/platform';
import { createHash, randomUUID } from 'node:crypto';
import { openDatabase } from '../../../../test/support/database.js';
import { eventually } from '../../../../test/support/eventually.js';
import { TokenNameTaken, TokenNotFound } from '../access.errors.js';
import { AuditEntity } from '../audit/audit.entity.js';
import { AuditStore } from '../audit/audit.store.js';
import { TokenStore } from '../authenticate/token.store.js';
import { Tokens } from '../authenticate/tokens.js';
import { IssuedTokenStore } from './issued-token.store.js';
import { IssueToken, IssueTokenHandler } from './issue-token.command.js';
import { ReloadTokensOnReplicaNews } from './reload-tokens.on-replica-news.js';
import { RevokeToken, RevokeTokenHandler } from './revoke-token.command.js';
import { RotateToken, RotateTokenHandler } from './rotate-token.command.js';

const ops = { name: 'ops', ip: '192.0.2.1' };

describe('a token that is issued by request', () => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  let now: number;
  let told: unknown[];
  let tokens: Tokens;
  let issue: (name: string, expiresInSeconds?: number) => ReturnType<IssueTokenHandler['execute']>;
  let rotate: (id: string, overlap: number) => ReturnType<RotateTokenHandler['execute']>;
  let revoke: (id: string) => Promise<void>;
  /** Rotates, and answers only when the gate opens, after the row was written. */
  let rotateLate: (id: string, gate: Promise<void>) => ReturnType<RotateTokenHandler['execute']>;
  let store: IssuedTokenStore;

  beforeAll(async () => {
    opened = await openDatabase('PGlite', [AuditEntity]);
  });
  afterAll(() => opened.close());

  beforeEach(async () => {
    const { database } = opened;
    await database.direct.query('DELETE FROM mcp.issued_tokens');
    await database.direct.query('DELETE FROM mcp.audit_log');
    now = Date.now();
    told = [];
    const clock = { now: () => new Date(now) } as Clock;
    const replicas = {
      tellIn: async (_tx: unknown, topic: string) => void told.push(topic),
    } as unknown as Replicas;
    const signals = {
      tell: async ({ subjects }: { subjects: string[] }) => void told.push(subjects),
    };
    store = new IssuedTokenStore(database);
    tokens = new Tokens(
      parseEnv({ MCP_AGGREGATOR_TOKENS: 'ops:admin:token-of-operators' }),
      new TokenStore(database),
      store,
      signals as never,
      clock,
      { alive: async () => [] } as never,
    );
    await tokens.load();
    const audit = new AuditStore(database);
    const unarmed = new FailPoints(undefined);
    const issuing = new IssueTokenHandler(database, store, audit, tokens, clock, replicas, unarmed);
    const rotating = new RotateTokenHandler(
      database,
      store,
      audit,
      tokens,
      clock,
      replicas,
      unarmed,
    );
    const revoking = new RevokeTokenHandler(database, store, audit, tokens, replicas, unarmed);
    issue = (name, seconds) => issuing.execute(new IssueToken(name, ['call'], seconds, ops));
    rotate = (id, overlap) => rotating.execute(new RotateToken(id, overlap, ops));
    rotateLate = (id, gate) => {
      const late = {
        transaction: async (work: Parameters<Database['transaction']>[0]) => {
          const done = await database.transaction(work);
          await gate;
          return done;
        },
      } as unknown as Database;
      const handler = new RotateTokenHandler(
        ...([late, store, audit, tokens, clock, replicas, unarmed] as const),
      );
      return handler.execute(new RotateToken(id, 0, ops));
    };
    revoke = (id) => revoking.execute(new RevokeToken(id, ops));
  });

  const callerWith = (secret: string) =>
    tokens.find(createHash('sha256').update(secret).digest().toString('latin1'));
  const audited = (): Promise<unknown[]> =>
    opened.database.direct.query('SELECT event, actor, details FROM mcp.audit_log ORDER BY id');

  it('is accepted at once, stored by its hash, audited, and told to other replicas', async () => {
    const { token, secret } = await issue('ci');
    expect(secret).toMatch(/^switchboard_[\w-]{43}$/);
    expect(callerWith(secret)).toEqual({
      name: 'ci',
      scopes: ['call'],
      subjects: ['token:ci'],
      subject: `issued:${token.id}`,
    });
    expect(await store.get(token.id)).toEqual(token);
    expect(token).toMatchObject({
      name: 'ci',
      scopes: ['call'],
      hash: createHash('sha256').update(secret).digest('hex'),
      previousHash: null,
      previousUntil: null,
      createdBy: 'ops',
      createdAt: new Date(now),
      expiresAt: null,
    });
    expect(await audited()).toEqual([
      {
        event: 'token.issued',
        actor: 'ops',
        details: { token_id: token.id, token: 'ci', scopes: ['call'] },
      },
    ]);
    expect(told).toEqual(['tokens of callers']);
  });

  it('expires when its time is over', async () => {
    const { token, secret } = await issue('ci', 60);
    expect(token.expiresAt).toEqual(new Date(now + 60_000));
    now += 59_999;
    expect(callerWith(secret)).toBeDefined();
    now += 1;
    expect(callerWith(secret)).toBeUndefined();
  });

  it('has a name of its own', async () => {
    await issue('ci');
    told.length = 0;
    await expect(issue('ci')).rejects.toThrow(TokenNameTaken);
    await expect(issue('ops')).rejects.toThrow(TokenNameTaken);
    expect([told, (await audited()).length]).toEqual([[], 1]);
  });

  it('is accepted with both secrets while a rotation lasts', async () => {
    const first = await issue('ci');
    told.length = 0;
    const second = await rotate(first.token.id, 60);
    expect(second.secret).not.toBe(first.secret);
    expect(second.token).toEqual({
      ...first.token,
      hash: second.token.hash,
      previousHash: first.token.hash,
      previousUntil: new Date(now + 60_000),
    });
    expect(await store.get(first.token.id)).toEqual(second.token);
    const accepted = () => [first, second].map(({ secret }) => callerWith(secret)?.name);
    expect(accepted()).toEqual(['ci', 'ci']);
    now += 60_000;
    expect(accepted()).toEqual([undefined, 'ci']);
    expect((await audited())[1]).toEqual({
      event: 'token.rotated',
      actor: 'ops',
      details: { token_id: first.token.id, token: 'ci', overlap_seconds: 60 },
    });
    expect(told).toEqual(['tokens of callers']);
  });

  const isRotated = async (id: string, before: string): Promise<void> =>
    eventually(async () => expect((await store.get(id)).hash).not.toBe(before));

  it('is accepted with the secret of the last rotation, also when an earlier one is answered later', async () => {
    const { token, secret } = await issue('ci');
    let open = (): void => undefined;
    const earlier = rotateLate(token.id, new Promise((resolve) => (open = resolve)));
    await isRotated(token.id, token.hash);
    const last = await rotate(token.id, 0);
    open();
    const first = await earlier;
    expect([secret, first.secret, last.secret].map((one) => callerWith(one)?.name)).toEqual([
      undefined,
      undefined,
      'ci',
    ]);
  });

  it('stays refused when a rotation from before it was revoked is answered later', async () => {
    const { token } = await issue('ci');
    let open = (): void => undefined;
    const rotation = rotateLate(token.id, new Promise((resolve) => (open = resolve)));
    await isRotated(token.id, token.hash);
    await revoke(token.id);
    open();
    expect(callerWith((await rotation).secret)).toBeUndefined();
  });

  it('is refused at once when it is revoked, and its sessions end', async () => {
    const { token, secret } = await issue('ci');
    told.length = 0;
    await revoke(token.id);
    expect(callerWith(secret)).toBeUndefined();
    await expect(store.get(token.id)).rejects.toThrow(TokenNotFound);
    expect((await audited())[1]).toEqual({
      event: 'token.revoked',
      actor: 'ops',
      details: { token_id: token.id, token: 'ci' },
    });
    expect(told).toEqual(['tokens of callers', [`issued:${token.id}`]]);
  });

  it('is not rotated or revoked when it does not exist', async () => {
    await expect(rotate(randomUUID(), 1)).rejects.toThrow(TokenNotFound);
    await expect(revoke(randomUUID())).rejects.toThrow(TokenNotFound);
    expect([told, await audited()]).toEqual([[], []]);
  });

  it('is read again when another replica has news of tokens, or news may have been missed', async () => {
    const { secret } = await issue('ci');
    await opened.database.direct.query('DELETE FROM mcp.issued_tokens');
    const heard: ((message: { topic: string | undefined }) => void)[] = [];
    let stopped = 0;
    const replicas = {
      hear: (listener: (typeof heard)[0]) => {
        heard.push(listener);
        return () => (stopped += 1);
      },
    };
    const reloads: Promise<void>[] = [];
    const reload = (): Promise<void> => {
      const reloading = tokens.reload();
      reloads.push(reloading);
      return reloading;
    };
    const listener = new ReloadTokensOnReplicaNews(
      replicas as unknown as Replicas,
      { reload } as Tokens,
    );
    listener.onModuleInit();
    heard[0]?.({ topic: 'something else' });
    expect([reloads, callerWith(secret)?.name]).toEqual([[], 'ci']);
    for (const topic of ['tokens of callers', undefined]) heard[0]?.({ topic });
    expect(reloads).toHaveLength(2);
    await Promise.all(reloads);
    expect(callerWith(secret)).toBeUndefined();
    listener.onModuleDestroy();
    expect(stopped).toBe(1);
  });
});
