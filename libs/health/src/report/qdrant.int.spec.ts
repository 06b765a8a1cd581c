import { createServer, type Server } from 'node:http';
import { qdrantCheck } from './qdrant.js';

describe(qdrantCheck.name, () => {
  let qdrant: Server;
  let url: string;
  let status = 200;
  beforeAll(async () => {
    qdrant = createServer((request, response) => {
      const known = request.url === '/readyz' && request.headers['api-key'] === 'key';
      if (status > 0) response.writeHead(known ? status : 404).end();
    });
    await new Promise<void>((resolve) => {
      qdrant.listen(0, '127.0.0.1', resolve);
    });
    const address = qdrant.address();
    url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  });
  afterAll(() => {
    qdrant.closeAllConnections();
    qdrant.close();
  });

  it.each([
    ['ok', 200, 60_000],
    ['down', 503, 60_000],
    ['down', 0, 200],
  ] as const)('says %s of a Qdrant that answers with %i', async (verdict, answer, withinMs) => {
    status = answer;
    expect(await qdrantCheck({ QDRANT_URL: url, QDRANT_API_KEY: 'key' }, withinMs)).toBe(verdict);
  });

  it('is down when the port is closed, and embedded when none is configured', async () => {
    const unreachable = { QDRANT_URL: 'http://127.0.0.1:9', QDRANT_API_KEY: undefined };
    expect(await qdrantCheck(unreachable, 200)).toBe('down');
    expect(await qdrantCheck({ QDRANT_URL: undefined, QDRANT_API_KEY: undefined }, 200)).toBe(
      'embedded',
    );
  });
});
