import type { JsonObject } from '@app/platform';

/** What a client may ask for. */
export const activityTopics = [
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
] as const;
export type ActivityTopic = (typeof activityTopics)[number];

/** As the routes that show the same. */
export const adminTopics: ReadonlySet<ActivityTopic> = new Set(['audit', 'policy']);

/** Changes of state, also for webhooks. */
export const stateTopics = [
  'server',
  'catalogue',
  'health',
  'session',
  'approval',
  'policy',
] as const satisfies readonly ActivityTopic[];
export type StateTopic = (typeof stateTopics)[number];

export function isStateTopic(topic: ActivityTopic): topic is StateTopic {
  return stateTopics.some((one) => one === topic);
}

/** What happened at one replica. `seq` counts the events of that replica from 1. */
export interface ActivityEvent {
  readonly topic: ActivityTopic;
  readonly seq: number;
  /** Empty for an event about no server; undefined for one about all. */
  readonly serverIds: readonly string[] | undefined;
  /** The envelope `{id, at, topic, data}` as JSON, written once for all who hear it. */
  readonly text: string;
  /** The same with the name of the caller, which only admins are told. */
  readonly adminText: string;
}

/** A new event: what happened, and the servers that it is about. */
export interface ActivityNote {
  readonly topic: ActivityTopic;
  readonly data: JsonObject;
  readonly serverIds?: readonly string[];
  /** The name of the principal; told to admins as `data.caller`. */
  readonly caller?: string;
  /** A summary for those who hear the topic, whatever their servers; it is not kept. */
  readonly summary?: 'rate';
}

const MAX_TEXT = 1_000;
const MAX_ITEMS = 100;

/** Texts and lists of servers are cut: an event is a hint, and the REST API has the whole. */
export function boundedData(data: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      if (typeof value === 'string' && value.length > MAX_TEXT) {
        return [name, `${value.slice(0, MAX_TEXT)}…`];
      }
      return [name, Array.isArray(value) ? value.slice(0, MAX_ITEMS) : value];
    }),
  );
}
