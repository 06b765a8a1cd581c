import { startApp } from '../support/app.js';
import { send } from '../support/http.js';

describe('a batch of MCP messages', () => {
  it('counts message by message against the rate limit', async () => {
    const service = await startApp({ MCP_AGGREGATOR_RATE_LIMIT: '50' });
    try {
      const post = (body: unknown, session?: string) =>
        send(service.url, '/mcp', {
          method: 'POST',
          token: service.token,
          headers: {
            accept: 'application/json, text/event-stream',
            ...(session !== undefined && { 'mcp-session-id': session }),
          },
          body: JSON.stringify(body),
        });
      const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: {} };
      const begun = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
      const session = begun.headers['mcp-session-id'];
      const batch = Array.from({ length: 40 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
      const first = await post(batch, session);
      expect([first.status, first.text.match(/"result"/g)?.length]).toEqual([200, 40]);
      const second = await post(batch, session);
      expect([second.status, second.body]).toMatchObject([429, { error_code: 'RATE_LIMITED' }]);
      expect(Number(second.headers['retry-after'])).toBeGreaterThan(0);
    } finally {
      await service.close();
    }
  });
});
