import type { StreamEventsResponse } from '@app/api-client';
import { CliError, exitCodes } from './exit-codes.js';
import { followEvents } from './follow-events.js';
import type { StreamPosition } from './rest-client.js';
import { screenOf } from './screen.js';

const unreachable = new CliError('There is no service', exitCodes.unreachable);
const refused = new CliError('The token is missing', exitCodes.unauthorized);
const event = (id: string): StreamEventsResponse => ({
  id,
  at: '2026-11-20T12:00:00.000Z',
  topic: 'gap',
  data: { lost: null },
});

/** A stream: the positions that it tells, with an event each, then how it ends. */
type Stream = readonly [...string[], Error | undefined];

async function follow(...streams: Stream[]) {
  const asked: (string | undefined)[] = [];
  const pauses: number[] = [];
  const printed: unknown[] = [];
  const rest = {
    async *events(_query: object, position: StreamPosition) {
      asked.push(position.id);
      for (const part of streams[asked.length - 1] ?? [refused]) {
        if (part instanceof Error) throw part;
        if (part === undefined) return;
        position.id = part;
        yield await Promise.resolve(event(part));
      }
    },
  };
  const output = {
    isJson: true,
    screen: screenOf({}, {}),
    add: ({ json }: { json: unknown }) => printed.push((json as StreamEventsResponse).id),
  };
  const pause = (ms: number): Promise<unknown> => Promise.resolve(pauses.push(ms));
  const ended = await followEvents(rest, output, {}, pause).catch((error: unknown) => error);
  return { asked, pauses, printed, ended };
}

describe(followEvents.name, () => {
  it('continues after the last event when the service restarts or the connection breaks', async () => {
    const { asked, printed, pauses, ended } = await follow(
      ['a-1', 'a-2', undefined],
      ['a-3', unreachable],
      [unreachable],
      [unreachable],
      ['b-1', undefined],
    );
    expect(asked).toEqual([undefined, 'a-2', 'a-3', 'a-3', 'a-3', 'b-1']);
    expect(printed).toEqual(['a-1', 'a-2', 'a-3', 'b-1']);
    expect(pauses).toEqual([1_000, 1_000, 2_000, 4_000, 1_000]);
    expect(ended).toBe(refused);
  });

  it('waits half a minute at most', async () => {
    const away = Array.from({ length: 8 }, (): Stream => [unreachable]);
    const { pauses } = await follow(['a-1', undefined], ...away);
    expect(pauses.at(-1)).toBe(30_000);
  });

  it('ends when there is no service at first, and when it refuses', async () => {
    expect(await follow([unreachable])).toMatchObject({ asked: [undefined], ended: unreachable });
    expect(await follow(['a-1', undefined], [refused])).toMatchObject({ ended: refused });
  });
});
