import { describeFourCells } from '../support/four-cells.js';
import { startGateway } from '../support/gateway.js';

describeFourCells('through one gateway', async (url) => {
  const gateway = await startGateway({ peer: { kind: 'HTTP', url, headers: {} } });
  return {
    url: gateway.origin,
    era: async () => gateway.sessionOf('peer').era,
    pending: () => gateway.sessionOf('peer').pending,
    close: gateway.close,
  };
});
