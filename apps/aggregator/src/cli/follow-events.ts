import type { StreamEventsData, StreamEventsResponse } from '@app/api-client';
import { setTimeout as sleep } from 'node:timers/promises';
import { detailsText } from './details-text.js';
import { CliError, exitCodes } from './exit-codes.js';
import type { RestClient, StreamPosition } from './rest-client.js';
import { shown } from './screen.js';
import type { Output } from './session.js';

/** After the stream has ended, as at a restart; doubles while no service answers. */
const AGAIN_MS = 1_000;
const LONGEST_MS = 30_000;

type LiveTopic = NonNullable<NonNullable<StreamEventsData['query']>['topics']>[number];

export const LIVE_TOPICS = [
  'server',
  'catalogue',
  'call',
  'search',
  'query',
  'health',
  'session',
  'approval',
  'policy',
  'audit',
] as const satisfies readonly LiveTopic[];

export interface FollowOptions {
  readonly topics?: readonly LiveTopic[] | undefined;
  readonly server?: string | undefined;
}

/**
 * Prints events as they happen, until the user ends it. Once a stream has begun, it continues where it was after a lost
 * connection or a restart, however long that takes; a refusal ends it.
 */
export async function followEvents(
  rest: Pick<RestClient, 'events'>,
  output: Output,
  { topics, server }: FollowOptions,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<never> {
  const query = {
    ...(topics && { topics: [...topics] }),
    ...(server !== undefined && { server: [server] }),
  };
  const position: StreamPosition = { id: undefined };
  for (let failures = 0; ; failures++) {
    const before = position.id;
    try {
      for await (const event of rest.events(query, position)) {
        output.add({ json: event, text: (screen) => shown(lineOf(event), screen) });
      }
      failures = 0;
    } catch (error) {
      if (position.id === undefined || !isUnreachable(error)) throw error;
      if (position.id !== before) failures = 0;
    }
    await pause(Math.min(LONGEST_MS, AGAIN_MS * 2 ** Math.min(failures, 10)));
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof CliError && error.exitCode === exitCodes.unreachable;
}

function lineOf({ at, topic, data }: StreamEventsResponse): string {
  return `${at}  ${topic}  ${detailsText({ ...data })}`;
}
