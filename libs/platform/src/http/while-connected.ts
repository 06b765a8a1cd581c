import type { FastifyReply } from 'fastify';
import { Cancellation, type CancelSignal } from '../work/cancellation.js';

/** Whether the client has disconnected; 'close' was emitted then, and is not emitted again. */
export function isGone({ raw, request }: FastifyReply): boolean {
  return raw.destroyed || request.raw.socket.destroyed;
}

/** Aborted when the HTTP client disconnects before the response: the call is cancelled. */
export function whileConnected(reply: FastifyReply): CancelSignal {
  const cancellation = new Cancellation();
  // While the request was admitted.
  if (isGone(reply)) cancellation.abort(new Error('the client went away'));
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) cancellation.abort(new Error('the client went away'));
  });
  return cancellation;
}
