import type { Server, ServerResponse } from 'node:http';

/** What requests in progress get at the end of the service, before their connections are cut. */
const GRACE_MS = 5_000;

/**
 * Returns what to call when the server is about to close: it ends every connection as soon as no
 * answer is outstanding. Node itself waits for connections on which nothing was ever asked, which
 * clients open ahead of need.
 */
export function connectionEnder(server: Server): () => void {
  let outstanding = 0;
  let closing = false;
  const endIfDone = (): void => {
    if (closing && outstanding === 0) server.closeAllConnections();
  };
  const ended = (): void => {
    outstanding -= 1;
    endIfDone();
  };
  server.on('request', (_request, response: ServerResponse) => {
    outstanding += 1;
    response.once('close', ended);
  });
  return () => {
    closing = true;
    setTimeout(() => server.closeAllConnections(), GRACE_MS).unref();
    endIfDone();
  };
}
