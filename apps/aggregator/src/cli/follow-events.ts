import type { StreamEventsData, StreamEventsResponse } from '@app/api-client';
import { setTimeout as sleep } from 'node:timers/promises';
import { detailsText } from './details-text.js';
import type { RestClient } from './rest-client.js';
import { shown } from './screen.js';
import type { Output } from './session.js';

/** After the service has ended the stream, as at a restart. */
const AGAIN_MS = 1_000;

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

/** Prints events as they happen, until the user ends it. Continues where it was after a lost connection. */
export async function followEvents(
  rest: RestClient,
  output: Output,
  { topics, server }: FollowOptions,
): Promise<never> {
  const query = {
    ...(topics && { topics: [...topics] }),
    ...(server !== undefined && { server: [server] }),
  };
  for (let lastId: string | undefined; ;) {
    for await (const { event, id } of rest.events(query, lastId)) {
      lastId = id;
      output.add({ json: event, text: (screen) => shown(lineOf(event), screen) });
    }
    await sleep(AGAIN_MS);
  }
}

function lineOf({ at, topic, data }: StreamEventsResponse): string {
  return `${at}  ${topic}  ${detailsText({ ...data })}`;
}
