import {
  ConnectionLost,
  RequestCancelled,
  type RequestOptions,
  UpstreamHttpError,
} from '@app/mcp-client';
import { RawJsonObject, type Pulse } from '@app/platform';
import { FakeSession } from '../keep/fake-session.js';
import { PassedSession, type PeerLiveness } from './passed-session.js';

describe(PassedSession, () => {
  let inner: FakeSession;
  let sent: RequestOptions[];
  let isAwake: boolean;
  let tell: (pulse: Pulse) => void;
  let heard: number;
  let session: PassedSession;

  beforeEach(() => {
    inner = new FakeSession();
    sent = [];
    isAwake = true;
    heard = 0;
    inner.requestBytes = (...args: unknown[]) => {
      sent.push(args[2] as RequestOptions);
      return Promise.resolve(RawJsonObject.of({}));
    };
    const peer: PeerLiveness = {
      isAwake: () => isAwake,
      waitUntilAwake: () => new Promise((resolve) => (tell = resolve)),
      heard: () => (heard += 1),
    };
    session = new PassedSession(inner, 'the-leader', 'this-replica', peer);
  });

  const call = (signal?: AbortSignal): Promise<unknown> =>
    session.requestBytes('tools/call', {}, { timeoutMs: 1_000, signal });
  const outcomeOf = (pending: Promise<unknown>): Promise<unknown> =>
    pending.then(
      () => 'answered',
      (error: unknown) => (error instanceof ConnectionLost ? error.executed : error),
    );

  it('sends at once to a replica that has just answered, and notes that it answers', async () => {
    await call();
    expect([sent.length, heard]).toEqual([1, 1]);
  });

  it('keeps a request back until the replica answers', async () => {
    isAwake = false;
    const pending = outcomeOf(call());
    expect(sent).toEqual([]);
    tell('answers');
    expect(await pending).toBe('answered');
    expect(sent[0]?.timeoutMs).toBeLessThanOrEqual(1_000);
  });

  it('ends a request that its caller cancels while it is kept back', async () => {
    isAwake = false;
    const leaving = new AbortController();
    const pending = expect(call(leaving.signal)).rejects.toThrow(RequestCancelled);
    leaving.abort();
    await pending;
    await expect(call(leaving.signal)).rejects.toThrow(RequestCancelled);
    expect(sent).toEqual([]);
  });

  it.each<[string, Error, string]>([
    ['refuses it', new UpstreamHttpError(409, ''), 'no'],
    ['stops', new UpstreamHttpError(503, '{"error_code":"SERVICE_UNAVAILABLE"}'), 'no'],
    ['has a proxy before it that gets no answer', new UpstreamHttpError(502, 'Bad'), 'unknown'],
    ['has a proxy before it that is overloaded', new UpstreamHttpError(503, 'Bad'), 'unknown'],
  ])('says of a request what is known when the replica %s', async (_, answer, executed) => {
    inner.requestBytes = () => Promise.reject(answer);
    expect(await outcomeOf(call())).toBe(executed);
  });

  it.each<[string, () => void]>([
    ['another replica leads', () => session.leave()],
    ['the replica is gone', () => session.abandon()],
    ['it stays silent', () => tell('silent')],
    ['no process listens there', () => tell('refuses')],
  ])('sends nothing, and says so, when %s', async (_, happen) => {
    isAwake = false;
    const pending = outcomeOf(call());
    happen();
    expect(await pending).toBe('no');
    expect(sent).toEqual([]);
  });
});
