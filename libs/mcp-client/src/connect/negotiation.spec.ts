import { jest } from '@jest/globals';
import type { ProtocolEra, RpcId } from '@app/mcp-protocol';
import { isJsonObject, type JsonObject } from '@app/platform';
import { ConnectionLost, CredentialsRefused, UpstreamHttpError } from '../upstream.errors.js';
import { FakeListener } from '../wire/fake-listener.js';
import { FakeWire } from '../wire/fake-wire.js';
import type { Wire } from '../wire/wire.js';
import { type Negotiated, Negotiation, ProbeKilledServer } from './negotiation.js';

const OPTIONS = {
  connectTimeoutMs: 3_000,
  maxAnswerBytes: 1_000,
  clientInfo: { name: 'c', version: '1' },
  clientCapabilities: {},
  allowInsecureHttp: false,
};
const TIMEOUT_MS = 3_000;

describe(Negotiation.name, () => {
  let wire: FakeWire;
  let negotiation: Negotiation;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  class Delivering extends FakeListener {
    override onFrame(bytes: Buffer): boolean {
      const message: unknown = JSON.parse(bytes.toString());
      if (isJsonObject(message)) negotiation.deliver(message);
      return true;
    }
  }
  async function at(kind: Wire['kind'], serverEra: ProtocolEra = 'legacy'): Promise<void> {
    wire = new FakeWire(kind, serverEra);
    negotiation = new Negotiation(wire, OPTIONS);
    await wire.open(new Delivering());
  }
  const run = (era?: ProtocolEra): Promise<Negotiated> => negotiation.run(era, TIMEOUT_MS);
  const settled = (): Promise<void> => new Promise(setImmediate);

  it('awaits its own requests only, until they are answered', async () => {
    await at('stdio');
    wire.isSilent = true;
    const running = run('legacy');
    await settled();
    const id = wire.asked('initialize')[0]?.id ?? 'none';
    const awaited = (one: RpcId): boolean => negotiation.awaits(one);
    expect([awaited(id), awaited('other')]).toEqual([true, false]);
    wire.answer(id, { protocolVersion: '2025-11-25', ...wire.opening });
    await running;
    expect(awaited(id)).toBe(false);
  });

  it.each([
    [400, true],
    [499, true],
    [500, false],
    [503, false],
  ])('fails with HTTP %s, as a refused handshake: %s', async (status, isRefused) => {
    await at('http');
    wire.serve = () => new UpstreamHttpError(status, '', 'try later');
    await expect(run('legacy')).rejects.toMatchObject({
      message: `Connecting failed: The server answered with HTTP ${status}: try later`,
      handshakeRefused: isRefused,
    });
  });

  it('fails with what the server answered, cut, as a refused handshake', async () => {
    await at('stdio');
    wire.isSilent = true;
    const running = run('legacy');
    const ended = expect(running).rejects.toMatchObject({
      message: expect.stringMatching(
        /^Connecting failed: the server answered ".{0,40}x{200,300}.{0,3}"$/,
      ) as string,
      handshakeRefused: true,
      cause: undefined,
    });
    await settled();
    const id = wire.asked('initialize')[0]?.id ?? 'none';
    wire.say({ jsonrpc: '2.0', id, error: { code: -1, message: 'x'.repeat(1_000) } });
    await ended;
  });

  it('fails with refused credentials, and with a lost connection', async () => {
    await at('http');
    const refused = new CredentialsRefused(401);
    wire.serve = () => refused;
    await expect(run('legacy')).rejects.toBe(refused);
    wire.serve = () => new ConnectionLost('reset', 'no');
    await expect(run('legacy')).rejects.toMatchObject({
      message: 'Connecting failed: reset',
      handshakeRefused: false,
    });
  });

  it('fails when the server does not answer the handshake', async () => {
    await at('http');
    wire.isSilent = true;
    const ended = expect(run('legacy')).rejects.toThrow(
      'Connecting failed: the server did not answer the handshake in time',
    );
    await jest.advanceTimersByTimeAsync(TIMEOUT_MS);
    await ended;
  });

  it('fails with the words of the client when the answer is no handshake', async () => {
    await at('stdio');
    wire.serve = (message) =>
      'method' in message && message.method === 'initialize' ? { capabilities: 7 } : undefined;
    await expect(run('legacy')).rejects.toThrow(/^Connecting failed: .*[Ii]nvalid/);
  });

  it('takes silence of a process for a legacy server after a third of the time', async () => {
    await at('stdio');
    wire.isSilent = true;
    const running = run();
    await settled();
    await jest.advanceTimersByTimeAsync(TIMEOUT_MS / 3 - 1);
    expect(wire.asked('initialize')).toEqual([]);
    wire.isSilent = false;
    await jest.advanceTimersByTimeAsync(1);
    await settled();
    await expect(running).resolves.toMatchObject({ era: 'legacy' });
  });

  it('takes silence over HTTP for an outage', async () => {
    await at('http');
    wire.isSilent = true;
    const ended = expect(run()).rejects.toThrow('Connecting failed');
    await settled();
    await jest.advanceTimersByTimeAsync(TIMEOUT_MS / 3);
    expect(wire.asked('initialize')).toEqual([]);
    await jest.advanceTimersByTimeAsync(TIMEOUT_MS);
    await ended;
    expect(wire.asked('initialize')).toEqual([]);
  });

  it('takes a refusal over HTTP for a legacy server', async () => {
    await at('http');
    wire.serve = (message) =>
      'method' in message && message.method === 'server/discover'
        ? new UpstreamHttpError(400, 'Bad Request: Server not initialized')
        : undefined;
    await expect(run()).resolves.toMatchObject({ era: 'legacy' });
  });

  it.each([
    ['stdio', undefined, true],
    ['stdio', 'legacy', false],
    ['http', undefined, false],
    ['sse', undefined, false],
  ] as const)('at the end of a wire (%s, era %s) asks for another process: %s', async (...of) => {
    const [kind, era, isKilled] = of;
    await at(kind);
    wire.isSilent = true;
    const outcome = run(era).catch((error: unknown) => error);
    await settled();
    negotiation.end(new ConnectionLost('it exited', 'unknown'));
    expect((await outcome) instanceof ProbeKilledServer).toBe(isKilled);
    if (!isKilled) expect(await outcome).toMatchObject({ message: 'Connecting failed: it exited' });
  });

  it('can end before it began, and keeps the first reason', async () => {
    await at('http');
    negotiation.end(new ConnectionLost('first', 'unknown'));
    negotiation.end(new ConnectionLost('second', 'unknown'));
    wire.isSilent = true;
    const running = run('legacy').catch((error: unknown) => error);
    await settled();
    negotiation.end(new ConnectionLost('third', 'unknown'));
    expect(await running).toMatchObject({ message: 'Connecting failed: first' });
  });

  it.each<[JsonObject, unknown]>([
    [{ instructions: 'Be kind.' }, 'Be kind.'],
    [{}, undefined],
  ])('takes instructions that are text: %j', async (more, instructions) => {
    await at('stdio');
    wire.opening = { ...wire.opening, ...more };
    expect((await run('legacy')).instructions).toBe(instructions);
  });
});
