import { createHmac, randomBytes } from 'node:crypto';
import type { StateTopic } from '@app/activity';

export const MAX_WEBHOOKS = 50;
/** Events that wait for one webhook; further ones are dropped, and counted as dead. */
export const MAX_WAITING = 50_000;
/** An event that was refused so often is dead; with the waits between, about half a day. */
export const MAX_ATTEMPTS = 24;
/** Topic of messages between replicas: webhooks were added, changed or removed. */
export const WEBHOOKS_CHANGED = 'webhooks';
/** Events wait to be sent. */
export const DELIVERIES_WAIT = 'webhook-deliveries';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 3_600_000;

export interface Webhook {
  readonly id: string;
  /** Empty if it cannot be decrypted. */
  readonly url: string;
  readonly description: string | null;
  readonly topics: readonly StateTopic[];
  /** Null for events about any server and about none. */
  readonly serverIds: readonly string[] | null;
  readonly enabled: boolean;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deliveredAt: Date | null;
  /** Of the first refusal since an event was taken. */
  readonly failingSince: Date | null;
  readonly lastError: string | null;
  /** Events that were given up. */
  readonly dead: number;
}

/** What an event is sent with. */
export interface WebhookTarget {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

/** Doubles from a quarter of a second to an hour. */
export function waitAfterMs(attempts: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 20));
}

const PREFIX = 'whsec_';

/** As https://www.standardwebhooks.com has it: the prefix, and the key in base64. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** The headers of the Standard Webhooks specification. */
export function signedHeaders(
  secret: string,
  messageId: string,
  at: Date,
  body: string,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const mac = createHmac('sha256', key).update(`${messageId}.${timestamp}.${body}`);
  return {
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${mac.digest('base64')}`,
  };
}
