import { type SharedBytes, UnsentBytes } from '@app/platform';
import { setImmediate as turn } from 'node:timers/promises';
import { NotedLimits } from '../fake-endpoint.js';
import { FakeView } from '../fake-view.js';
import type { ServerChange } from '../surface.js';
import { Audiences, type Receiver } from './audiences.js';

let view: FakeView;
let unsent: UnsentBytes;
let limits: NotedLimits;
let audiences: Audiences;
beforeEach(() => {
  view = new FakeView();
  unsent = new UnsentBytes({ total: 2 ** 30, perConnection: 2 ** 30, stallMs: 600_000 });
  limits = new NotedLimits();
  audiences = new Audiences(unsent, limits);
});
afterEach(() => unsent.close());

class FakeReceiver implements Receiver {
  readonly heard: unknown[] = [];
  asked = 0;
  written: SharedBytes | undefined;

  constructor(
    private readonly isInterested: (change: ServerChange) => boolean = () => true,
    private readonly onReceive: () => void = () => undefined,
  ) {}

  hears(change: ServerChange): boolean {
    this.asked += 1;
    return this.isInterested(change);
  }

  receive(change: ServerChange, written: SharedBytes): void {
    this.heard.push(change.kind === 'log' ? change.params['data'] : change.kind);
    this.written = written;
    this.onReceive();
  }
}

const log = (data: number | string): ServerChange => ({
  kind: 'log',
  params: { data },
  user: 'alice',
});

function joined(count: number, ...how: ConstructorParameters<typeof FakeReceiver>): FakeReceiver[] {
  return Array.from({ length: count }, () => {
    const receiver = new FakeReceiver(...how);
    audiences.join(view, receiver);
    return receiver;
  });
}

const total = (receivers: readonly FakeReceiver[]): number =>
  receivers.reduce((sum, { heard }) => sum + heard.length, 0);

async function turns(count = 10): Promise<void> {
  for (let passed = 0; passed < count; passed++) await turn();
}

describe(Audiences.name, () => {
  it('give every receiver that hears the change the same bytes', () => {
    const [one, other] = [new FakeReceiver(), new FakeReceiver()];
    const deaf = new FakeReceiver(() => false);
    for (const receiver of [one, deaf, other]) audiences.join(view, receiver);
    view.change({ kind: 'tools' });
    expect([one, deaf, other].map(({ heard }) => heard)).toEqual([['tools'], [], ['tools']]);
    expect(one.written).toBe(other.written);
    expect(one.written?.bytes.toString()).toBe(
      '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}',
    );
  });

  it('are separate for each view, which is watched once while it has receivers', () => {
    const other = new FakeView();
    const [one, two] = [new FakeReceiver(), new FakeReceiver()];
    const elsewhere = new FakeReceiver();
    const leave = [audiences.join(view, one), audiences.join(view, two)];
    audiences.join(other, elsewhere);
    expect([view.listening, other.listening]).toEqual([1, 1]);
    other.change({ kind: 'tools' });
    expect([one.heard, elsewhere.heard]).toEqual([[], ['tools']]);
    leave[0]?.();
    view.change({ kind: 'prompts' });
    expect([one.heard, two.heard, view.listening]).toEqual([[], ['prompts'], 1]);
    leave[1]?.();
    expect(view.listening).toBe(0);
    // Leaving twice does not end an audience that others have joined since.
    const late = new FakeReceiver();
    audiences.join(view, late);
    leave[1]?.();
    expect(view.listening).toBe(1);
    view.change({ kind: 'tools' });
    expect(late.heard).toEqual(['tools']);
  });

  it('hold the bytes only while they are being told', async () => {
    joined(250);
    view.change(log('x'.repeat(1_000)));
    expect(unsent.total).toBeGreaterThan(1_000);
    await turns();
    expect(unsent.total).toBe(0);
  });

  it('write nothing that no receiver hears', () => {
    const [deaf] = joined(1, () => false);
    view.change(log(1));
    expect([deaf?.heard, deaf?.asked, unsent.total]).toEqual([[], 1, 0]);
  });

  it('tell a hundred receivers in a turn of the event loop', async () => {
    const receivers = joined(250);
    const told: number[] = [];
    view.change({ kind: 'tools' });
    for (let passed = 0; passed < 3; passed++) {
      told.push(total(receivers));
      await turn();
    }
    expect(told).toEqual([100, 200, 250]);
    view.change({ kind: 'tools' });
    expect(total(receivers)).toBe(350);
  });

  it('ask two thousand receivers in a turn of the event loop', async () => {
    const [listener] = joined(1);
    const receivers = joined(4_500, () => false);
    view.change({ kind: 'tools' });
    const asked = () => receivers.filter((receiver) => receiver.asked > 0).length;
    const inTurns: number[] = [];
    for (let passed = 0; passed < 3; passed++) {
      inTurns.push(asked());
      await turn();
    }
    expect(inTurns).toEqual([1_999, 3_999, 4_500]);
    expect(listener?.heard).toEqual(['tools']);
  });

  it('keep changes in order, and equal ones that wait once', async () => {
    const receivers = joined(101);
    view.change(log(1));
    view.change({ kind: 'tools' });
    view.change(log(2));
    view.change({ kind: 'tools' });
    view.change({ kind: 'prompts' });
    view.change(log(2));
    await turns();
    expect(receivers.at(-1)?.heard).toEqual([1, 'tools', 2, 'prompts', 2]);
    expect(receivers[0]?.heard).toEqual([1, 'tools', 2, 'prompts', 2]);
  });

  it('tell a change again that comes while it is being told', async () => {
    const receivers = joined(101);
    view.change({ kind: 'tools' });
    view.change({ kind: 'tools' });
    view.change({ kind: 'tools' });
    await turns();
    expect(receivers.at(-1)?.heard).toEqual(['tools', 'tools']);
  });

  it('do not tell a receiver that left meanwhile', async () => {
    joined(100);
    const receiver = new FakeReceiver();
    const leave = audiences.join(view, receiver);
    view.change({ kind: 'tools' });
    leave();
    await turns();
    expect(receiver.heard).toEqual([]);
  });

  it('drop what waits when the last receiver has left', async () => {
    const receivers = Array.from({ length: 150 }, () => new FakeReceiver());
    const leave = receivers.map((receiver) => audiences.join(view, receiver));
    view.change(log(1));
    view.change(log(2));
    for (const one of leave) one();
    await turns();
    expect([total(receivers), unsent.total]).toEqual([100, 0]);
  });

  it('drop changes beyond ten thousand that wait', async () => {
    const receivers = joined(101);
    for (let change = 0; change <= 10_000; change++) view.change(log(change));
    expect(limits.noted).toEqual([]);
    view.change(log('too many'));
    view.change({ kind: 'tools' });
    expect(limits.noted).toEqual(['queued_notifications all', 'queued_notifications all']);
    expect(receivers[0]?.heard).toEqual([0]);
  });

  it('drop changes beyond sixteen megabytes that wait', async () => {
    const [receiver] = joined(101);
    const data = 'x'.repeat(6 * 1_048_576);
    // The first one is being told.
    for (let change = 0; change < 4; change++) view.change(log(data));
    expect(limits.noted).toEqual([]);
    view.change(log(data));
    expect(limits.noted).toEqual(['queued_notifications all']);
    await turns(40);
    expect(receiver?.heard).toHaveLength(4);
    for (let change = 0; change < 4; change++) view.change(log(data));
    expect(limits.noted).toHaveLength(1);
  });
});
