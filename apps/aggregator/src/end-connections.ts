import type { Server, ServerResponse } from 'node:http';

/** What requests in progress get at the end of the service, before their connections are cut. */
const GRACE_MS = 5_000;

/**
 * Returns what to call when the server is about to close: it ends every connection as soon as no
 * answer is outstanding. Node itself waits for connections on which nothing was ever asked, which
 * clients open ahead of need.
 */
export function connectionEnder(server: Server): () => void {
  const outstanding = new Set<ServerResponse>();
  let closing = false;
  const endIfDone = (): void => {
    if (closing && outstanding.size === 0) server.closeAllConnections();
  };
  server.on('request', (_request, response) => {
    outstanding.add(response);
    response.once('close', () => {
      outstanding.delete(response);
      endIfDone();
    });
  });
  return () => {
    closing = true;
    setTimeout(() => server.closeAllConnections(), GRACE_MS).unref();
    endIfDone();
  };
}
