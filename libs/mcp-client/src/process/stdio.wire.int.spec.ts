import { UNCOUNTED } from '@app/platform';
import { eventually } from '../../../../test/support/eventually.js';
import { AnswerTooLarge, ConnectFailed } from '../upstream.errors.js';
import { FakeListener } from '../wire/fake-listener.js';
import { StdioWire } from './stdio.wire.js';

const LIMIT = 1_000;
const NOTE = { jsonrpc: '2.0', method: 'x', params: { text: 'a\nb' } } as const;

/** Takes every line for a message that is JSON. */
class JsonListener extends FakeListener {
  override onFrame(bytes: Buffer): boolean {
    super.onFrame(bytes);
    return !bytes.includes('{ starting');
  }
}

describe(StdioWire.name, () => {
  let listener: JsonListener;
  let lines: string[];
  let wires: StdioWire[];

  beforeEach(() => {
    listener = new JsonListener();
    lines = [];
    wires = [];
  });
  afterEach(() => Promise.all(wires.map((wire) => wire.close({ force: true }))));

  function wireTo(script: string, env: Record<string, string> = {}): StdioWire {
    const program = {
      command: 'sh',
      args: ['-c', script],
      env: { PATH: process.env['PATH'] ?? '', ...env },
    };
    const limits = { maxBytes: LIMIT, room: UNCOUNTED };
    const wire = new StdioWire(program, limits, ['canary-7f3a9c'], (line) => lines.push(line));
    wires.push(wire);
    return wire;
  }
  async function start(script: string, env?: Record<string, string>): Promise<StdioWire> {
    const wire = wireTo(script, env);
    await wire.open(listener);
    return wire;
  }
  const texts = (): string[] => listener.frames.map(({ text }) => text);

  it('reads a message from each line, and writes one on each', async () => {
    const wire = await start('cat');
    await wire.send(NOTE);
    await wire.send({ jsonrpc: '2.0', id: 1, result: {} });
    await eventually(() =>
      expect(texts()).toEqual([JSON.stringify(NOTE), '{"jsonrpc":"2.0","id":1,"result":{}}']),
    );
    expect([wire.kind, wire.epoch, wire.mayHaveSent()]).toEqual(['stdio', 0, true]);
    expect([lines, listener.ends]).toEqual([[], []]);
  });

  it('takes for messages only lines that can be some', async () => {
    const wire = await start(
      String.raw`printf ' \t\r{"a":1}\n[1]\n\n"a"\nhello\n7\n{ starting\n\357\273\277{"b":1}\nend\n'; cat`,
    );
    await eventually(() => expect(lines.at(-1)).toBe('[stdout] end'));
    expect(texts().map((text) => text.trim())).toEqual(['{"a":1}', '[1]', '{ starting', '{"b":1}']);
    const logged = ['"a"', 'hello', '7', '{ starting', 'end'].map((line) => `[stdout] ${line}`);
    expect(lines).toEqual(logged);
    expect(wire.logs()).toEqual(logged);
  });

  it('logs what the process writes to its standard error, without secrets', async () => {
    const wire = await start('echo "{}" >&2; echo "key canary-7f3a9c" >&2; printf last >&2');
    await eventually(() => expect(wire.logs()).toEqual(['{}', 'key ********', 'last']));
    expect(texts()).toEqual([]);
  });

  it('cuts a line of the log that is too long', async () => {
    await start(`head -c 100000 /dev/zero | tr '\\0' x >&2; echo >&2; echo next >&2; cat`);
    await eventually(() => expect(lines.at(-1)).toBe('next'));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^x{100,2000}$/);
  });

  it.each([
    ['exit 3', 'the process exited (code 3)'],
    ['exit 0', 'the process exited (code 0)'],
    ['kill -TERM $$', expect.stringMatching(/ended by (?:SIGTERM|signal 15)$/)],
  ])('ends with the reason: %s', async (script, reason) => {
    const wire = await start(script);
    await eventually(() => expect(listener.ends).toMatchObject([{ reason, executed: 'unknown' }]));
    await expect(wire.send(NOTE)).rejects.toMatchObject({
      reason: 'its input is closed',
      executed: 'no',
    });
  });

  it('reads what the process wrote before it exited', async () => {
    await start(`echo '{"last":1}'`);
    await eventually(() => expect(listener.ends).toHaveLength(1));
    expect(texts()).toEqual(['{"last":1}']);
  });

  it('reports an answer that is too large, and no other message', async () => {
    const long = `head -c 2000 /dev/zero | tr '\\0' x`;
    await start(
      `printf '{"jsonrpc":"2.0","method":"a","params":"'; ${long}; echo '"}';` +
        `printf '{"jsonrpc":"2.0","id":7,"result":"'; ${long}; echo '"}';` +
        `printf 'text '; ${long}; echo; echo '{"a":1}'; cat`,
    );
    await eventually(() => expect(texts()).toEqual(['{"a":1}']));
    expect(listener.oversized).toMatchObject([
      { id: 7, error: expect.any(AnswerTooLarge) as object },
    ]);
    expect(lines).toEqual([expect.stringMatching(/^\[stdout\] text x+$/)]);
  });

  it('ends a process that writes a line without an end', async () => {
    await start(`cat /dev/zero`);
    await eventually(() =>
      expect(listener.ends).toMatchObject([{ reason: 'it wrote a line without an end' }]),
    );
    expect(listener.ends).toHaveLength(1);
  });

  it('gives the process its own variables, and none of this service', async () => {
    process.env['SWITCHBOARD_TEST_SECRET'] = 'x';
    await start('env; echo end', { OWN: '1' });
    delete process.env['SWITCHBOARD_TEST_SECRET'];
    await eventually(() => expect(lines).toContain('[stdout] end'));
    expect(lines).toContain('[stdout] OWN=1');
    expect(lines.join()).not.toContain('SWITCHBOARD_TEST_SECRET');
  });

  it('sends nothing before it is open', async () => {
    await expect(wireTo('cat').send(NOTE)).rejects.toMatchObject({ executed: 'no' });
  });

  it('ends the process when it is closed, and does not report that', async () => {
    const wire = await start('cat; echo "{}"');
    await wire.close({});
    await expect(wire.send(NOTE)).rejects.toMatchObject({ reason: 'its input is closed' });
    expect([listener.ends, texts()]).toEqual([[], []]);
  });

  it('ends a process that is still starting when it is closed', async () => {
    const wire = wireTo('cat');
    const opening = wire.open(listener);
    const outcome = expect(opening).rejects.toBeInstanceOf(ConnectFailed);
    await wire.close({ force: true });
    await outcome;
    expect(listener.ends).toEqual([]);
  });
});
