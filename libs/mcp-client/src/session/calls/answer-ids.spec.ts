import type { RpcId } from '@app/mcp-protocol';
import { AnswerIds } from './answer-ids.js';
import { OpenStreams } from './open-streams.js';
import { PendingCalls } from './pending-calls.js';

const ignored = { resolve: (): void => undefined, reject: (): void => undefined };

describe(AnswerIds.name, () => {
  let calls: PendingCalls;
  let streams: OpenStreams;
  let losses: string[];
  let late: number[];
  let failed: [RpcId, string][];

  beforeEach(() => {
    calls = new PendingCalls(() => undefined);
    streams = new OpenStreams();
    losses = [];
    late = [];
    failed = [];
  });
  afterEach(() => calls.rejectAll(() => new Error('the test is over')));

  const idsOf = (isShared: boolean): AnswerIds =>
    new AnswerIds(
      {
        calls,
        streams,
        awaits: (id) => calls.has(id),
        failExchange: (id, error) => failed.push([id, error.message]),
        answeredLate: (id) => late.push(id),
        lose: (reason) => losses.push(reason),
      },
      isShared,
    );
  const call = (): number => calls.add('tools/call', { timeoutMs: 60_000 }, ignored);
  /** Answers as the session does. */
  function answer(ids: AnswerIds, id: RpcId): RpcId | undefined {
    const own = ids.requestOf(id, undefined);
    if (own !== undefined) calls.detach(own);
    return own;
  }

  describe('on a stream that all requests share', () => {
    it('finds the call or the stream by the id, also as a text', () => {
      const ids = idsOf(true);
      const [one, two, three] = [call(), call(), calls.nextId()];
      const stream = {
        send: () => new Promise<void>(() => undefined),
        endsWhenSent: false,
        cancel: () => undefined,
      };
      void streams.open(three, stream, () => undefined);
      expect(answer(ids, two)).toBe(two);
      expect(answer(ids, String(one))).toBe(one);
      expect(answer(ids, three)).toBe(three);
      expect(answer(ids, 'other')).toBeUndefined();
      expect(losses).toEqual([]);
    });

    it('ends the session at the second answer to a request', () => {
      const ids = idsOf(true);
      const one = call();
      answer(ids, one);
      expect(answer(ids, one)).toBeUndefined();
      expect(losses).toEqual(['it answered a request twice']);
    });

    it('accepts one late answer to a request that was given up', () => {
      const ids = idsOf(true);
      const one = call();
      calls.detach(one);
      ids.noteGivenUp(one);
      expect([answer(ids, one), losses, late]).toEqual([undefined, [], [one]]);
      expect([answer(ids, one), losses]).toEqual([undefined, ['it answered a request twice']]);
    });

    it('ends the session after 64 answers to requests that were never sent', () => {
      const ids = idsOf(true);
      for (let id = 1; id <= 64; id++) answer(ids, id);
      expect(losses).toEqual([]);
      answer(ids, 65);
      expect(losses).toEqual(['it answers requests that were not sent']);
    });

    it('remembers the last 4096 answers', () => {
      const ids = idsOf(true);
      const all = Array.from({ length: 4_097 }, () => call());
      for (const id of all) answer(ids, id);
      answer(ids, all[0] ?? 0);
      expect(losses).toEqual([]);
      answer(ids, all[1] ?? 0);
      answer(ids, all.at(-1) ?? 0);
      expect(losses).toEqual(['it answered a request twice', 'it answered a request twice']);
    });

    it('takes a message without a readable id for the answer to the only call', () => {
      const ids = idsOf(true);
      expect(ids.requestOfUnreadable(undefined, undefined)).toBeUndefined();
      const one = call();
      expect(ids.requestOfUnreadable(undefined, undefined)).toBe(one);
      expect(ids.requestOfUnreadable(7, undefined)).toBe(7);
      call();
      expect(ids.requestOfUnreadable(undefined, undefined)).toBeUndefined();
    });
  });

  describe('where each request has its own exchange', () => {
    it('finds the request of the exchange', () => {
      const ids = idsOf(false);
      const [one, two] = [call(), call()];
      expect(ids.requestOf(one, one)).toBe(one);
      expect(ids.requestOf(String(two), two)).toBe(two);
      expect(ids.requestOfUnreadable(7, one)).toBe(one);
    });

    it('finds none outside of an exchange', () => {
      const ids = idsOf(false);
      expect(ids.requestOf(call(), undefined)).toBeUndefined();
      expect(ids.requestOfUnreadable(call(), undefined)).toBeUndefined();
      expect(failed).toEqual([]);
    });

    it('fails an exchange that brings the answer of another request', () => {
      const ids = idsOf(false);
      const [one, two] = [call(), call()];
      expect(ids.requestOf(two, one)).toBeUndefined();
      expect(failed).toEqual([
        [one, expect.stringContaining('it answered a request with the id of another')],
      ]);
    });

    it('ignores ids that no request has', () => {
      const ids = idsOf(false);
      const one = call();
      for (const id of ['other', 7, one + 1]) expect(ids.requestOf(id, one)).toBeUndefined();
      expect([failed, losses]).toEqual([[], []]);
    });
  });
});
