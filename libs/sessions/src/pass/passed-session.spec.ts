import { ConnectionLost, type RequestOptions } from '@app/mcp-client';
import { RawJsonObject, type Pulse } from '@app/platform';
import { FakeSession } from '../keep/fake-session.js';
import { PassedSession, type Road } from './passed-session.js';

describe(PassedSession, () => {
  let inner: FakeSession;
  let sent: RequestOptions[];
  let isOpen: boolean;
  let opens: (pulse: Pulse) => void;
  let heard: number;
  let session: PassedSession;

  beforeEach(() => {
    inner = new FakeSession();
    sent = [];
    isOpen = true;
    heard = 0;
    inner.requestBytes = (...args: unknown[]) => {
      sent.push(args[2] as RequestOptions);
      return Promise.resolve(RawJsonObject.of({}));
    };
    const road: Road = {
      isOpen: () => isOpen,
      opens: () => new Promise((resolve) => (opens = resolve)),
      heard: () => (heard += 1),
    };
    session = new PassedSession(inner, 'the-leader', 'this-replica', road);
  });

  const call = (): Promise<unknown> => session.requestBytes('tools/call', {}, { timeoutMs: 1_000 });
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
    isOpen = false;
    const pending = outcomeOf(call());
    expect(sent).toEqual([]);
    opens('answers');
    expect(await pending).toBe('answered');
    expect(sent[0]?.timeoutMs).toBeLessThanOrEqual(1_000);
  });

  it.each<[string, () => void]>([
    ['another replica leads', () => session.leave()],
    ['the replica is gone', () => session.abandon()],
    ['it stays silent', () => opens('silent')],
    ['no process listens there', () => opens('refuses')],
  ])('sends nothing, and says so, when %s', async (_, happen) => {
    isOpen = false;
    const pending = outcomeOf(call());
    happen();
    expect(await pending).toBe('no');
    expect(sent).toEqual([]);
  });
});
