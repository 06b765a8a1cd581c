import { errorAnswer } from '@app/platform';
import { fastify, type FastifyInstance } from 'fastify';
import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib';
import { temporaryFolder } from '../../../../test/support/env.js';
import { type Answer, send, sendRaw } from '../../../../test/support/http.js';
import { isConsoleFile, leadBrowsersToConsole, serveConsole } from './serve-console.js';

const SCRIPT = 'console.log("the page of the console");\n'.repeat(50);
const PAGE = '<!doctype html><title>Switchboard</title>';
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('the files of the console', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let app: FastifyInstance | undefined;
  let url: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const console = join(folder.path, 'console');
    await mkdir(join(console, 'assets'), { recursive: true });
    await writeFile(join(folder.path, 'secret.txt'), 'a secret beside the console');
    await writeFile(join(console, 'index.html'), PAGE);
    await writeFile(join(console, 'favicon.svg'), '<svg/>');
    const script = join(console, 'assets/index-4fe2a1b9.js');
    await writeFile(script, SCRIPT);
    await writeFile(`${script}.br`, brotliCompressSync(SCRIPT));
    await writeFile(`${script}.gz`, gzipSync(SCRIPT));
  });
  afterAll(() => folder.remove());
  afterEach(() => app?.close());

  async function start(root: string | undefined = join(folder.path, 'console')): Promise<void> {
    app = fastify();
    app.setErrorHandler((error, _request, reply) => {
      const { status, body } = errorAnswer(error);
      return reply.status(status).send(body);
    });
    leadBrowsersToConsole(app);
    serveConsole(app, root);
    await app.listen({ port: 0, host: '127.0.0.1' });
    url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  }
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    send(url, path, { method, headers });

  it('are kept for ever where their names have a hash, and compared where not', async () => {
    await start();
    const script = await get('/console/assets/index-4fe2a1b9.js');
    expect([script.status, script.text]).toEqual([200, SCRIPT]);
    expect(script.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': expect.stringMatching(/^(text|application)\/javascript/),
      vary: 'accept-encoding',
    });
    const icon = await get('/console/favicon.svg');
    expect(icon.headers).toMatchObject({
      'cache-control': 'no-cache',
      'content-type': expect.stringContaining('image/svg+xml'),
    });
  });

  it.each([
    ['br', 'gzip, deflate, br'],
    ['gzip', 'gzip'],
    [undefined, 'identity'],
    [undefined, undefined],
  ])('come as %s to a browser that accepts %s', async (encoding, accepted) => {
    await start();
    const answer = await get('/console/assets/index-4fe2a1b9.js', {
      ...(accepted !== undefined && { 'accept-encoding': accepted }),
    });
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, encoding]);
    expect(answer.headers['content-type']).toMatch(/javascript/);
    expect(Number(answer.headers['content-length'])).toBe(
      encoding === 'br'
        ? brotliCompressSync(SCRIPT).length
        : encoding === 'gzip'
          ? gzipSync(SCRIPT).length
          : SCRIPT.length,
    );
  });

  it('decompress to what was built', async () => {
    await start();
    const answer = await fetch(`${url}/console/assets/index-4fe2a1b9.js`);
    expect(await answer.text()).toBe(SCRIPT);
    expect(brotliDecompressSync(brotliCompressSync(SCRIPT)).toString()).toBe(SCRIPT);
  });

  it.each(['/console/', '/console/index.html', '/console/servers/github?tab=logs', '/console/a.b'])(
    'answer a browser at %s with the page, which is never kept',
    async (path) => {
      await start();
      const answer = await get(path, html);
      expect([answer.status, answer.text]).toEqual([200, PAGE]);
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'content-type': 'text/html; charset=utf-8',
      });
    },
  );

  it('are 404 where a script or a picture is missing, not the page', async () => {
    await start();
    for (const path of ['/console/assets/old-1234.js', '/console/servers/github']) {
      const answer = await get(path, { accept: '*/*' });
      expect([answer.status, answer.body]).toMatchObject([404, { error_code: 'NOT_FOUND' }]);
    }
    expect((await get('/console/', { accept: '*/*' })).text).toBe(PAGE);
    expect((await get('/console/assets/index-4fe2a1b9.js.br', { accept: '*/*' })).status).toBe(404);
  });

  it('allow scripts of this origin only, no evaluation and no frames', async () => {
    await start();
    for (const path of ['/console/', '/console/assets/index-4fe2a1b9.js', '/console/missing.js']) {
      const policy = (await get(path)).headers['content-security-policy'] ?? '';
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe-eval|\*/);
    }
  });

  it('answer HEAD, conditional and ranged requests', async () => {
    await start();
    const path = '/console/assets/index-4fe2a1b9.js';
    const head = await get(path, {}, 'HEAD');
    expect([head.status, head.text, head.headers['content-length']]).toEqual([
      200,
      '',
      String(SCRIPT.length),
    ]);
    const etag = String(head.headers['etag']);
    expect((await get(path, { 'if-none-match': etag })).status).toBe(304);
    expect((await get(path, { 'if-none-match': '"another"' })).status).toBe(200);
    const since = String(head.headers['last-modified']);
    expect((await get(path, { 'if-modified-since': since })).status).toBe(304);
    const range = await get(path, { range: 'bytes=0-6' });
    expect([range.status, range.text]).toEqual([206, 'console']);
    // The contract has no 416.
    expect((await get(path, { range: `bytes=${SCRIPT.length}-` })).status).toBe(400);
  });

  it.each([
    '/console/../secret.txt',
    '/console/..%2fsecret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/assets/..%2f..%2f..%2fsecret.txt',
    '/console/..%5csecret.txt',
    '/console//etc/passwd',
    '/console/%00',
    '/console/index.html%00.js',
  ])('are nothing outside of their folder: %s', async (path) => {
    await start();
    const answer = await sendRaw(
      url,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 (400|404) /);
    expect(answer).not.toMatch(/secret beside|root:/);
  });

  it('lead browsers from the address of the service to the console, and no program', async () => {
    await start();
    const led = await get('/', html);
    expect([led.status, led.headers['location']]).toEqual([302, '/console/']);
    expect((await get('/?from=readme', html)).status).toBe(302);
    expect((await get('/console', html)).headers['location']).toBe('/console/');
    const others: Answer[] = [
      await get('/'),
      await get('/', { accept: 'application/json' }),
      await get('/other', html),
    ];
    expect(others.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  it('say how to build them when they are not', async () => {
    app = fastify();
    app.setErrorHandler((error, _request, reply) => {
      const { status, body } = errorAnswer(error);
      return reply.status(status).send(body);
    });
    serveConsole(app, undefined);
    await app.listen({ port: 0, host: '127.0.0.1' });
    url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    const answer = await get('/console/', html);
    expect([answer.status, answer.body]).toEqual([
      404,
      {
        detail: expect.stringContaining('npm run build') as string,
        error_code: 'NOT_FOUND',
      },
    ]);
  });
});

describe(isConsoleFile.name, () => {
  it.each([
    ['/console', true],
    ['/console?a', true],
    ['/console/', true],
    ['/console/assets/a.js', true],
    ['/console/session', false],
    ['/console/session?a', false],
    ['/consoles', false],
    ['/mcp', false],
  ])('is for %s %s', (path, isFile) => {
    expect(isConsoleFile(path)).toBe(isFile);
  });
});
