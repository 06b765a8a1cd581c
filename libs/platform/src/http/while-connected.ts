import type { FastifyReply } from 'fastify';

/** Aborted when the HTTP client goes away before its answer: nobody wants the call any more. */
export function whileConnected(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(new Error('the client went away'));
  });
  return controller.signal;
}
