import { request } from 'node:http';

export interface HeardEvent {
  readonly id: string;
  readonly at: string;
  readonly topic: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One client of `GET /api/v1/events`. */
export interface EventReader {
  readonly status: number;
  readonly events: readonly HeardEvent[];
  /** The id of the last frame, for `Last-Event-ID`. */
  readonly lastId: string;
  /** Whether the service has ended the stream. */
  readonly isEnded: boolean;
  of(topic: string): readonly HeardEvent[];
  /** Stops reading, so that the connection fills up. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Resolves with the head of the answer. */
export function readEvents(
  service: { readonly url: string; readonly token: string },
  query = '',
  lastEventId?: string,
): Promise<EventReader> {
  const events: HeardEvent[] = [];
  let lastId = '';
  let isEnded = false;
  let rest = '';
  const read = (chunk: string): void => {
    const frames = (rest + chunk).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      for (const line of frame.split('\n')) {
        if (line.startsWith('id: ')) lastId = line.slice(4);
        if (line.startsWith('data: ')) events.push(JSON.parse(line.slice(6)) as HeardEvent);
      }
    }
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${service.url}/api/v1/events${query}`,
      {
        agent: false,
        headers: {
          authorization: `Bearer ${service.token}`,
          accept: 'text/event-stream',
          ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        },
      },
      (response) => {
        response.setEncoding('utf8').on('data', read);
        response.on('error', () => undefined);
        response.on('close', () => (isEnded = true));
        resolve({
          status: response.statusCode ?? 0,
          events,
          get lastId() {
            return lastId;
          },
          get isEnded() {
            return isEnded;
          },
          of: (topic) => events.filter((event) => event.topic === topic),
          pause: () => void response.pause(),
          resume: () => void response.resume(),
          close: () => void response.destroy(),
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}
