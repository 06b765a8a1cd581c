import fastifyStatic from '@fastify/static';
import { AppError, installedFolder } from '@app/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/** Paths of files; `/console/session` beside them is a part of the API. */
export const isConsoleFile = (url: string): boolean =>
  /^\/console(?:\/(?!session\b)|\?|$)/.test(url);

const INDEX = 'index.html';
/** Vite writes the hash of the content into the names of these. */
const HASHED = /^assets\//;
const COMPRESSED = /\.(?:br|gz)$/;
const YEAR_S = 31_536_000;

/** Generated forms set styles; icons of tools come from other origins. Nothing is evaluated or framed. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data: https:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

class ConsoleNotBuilt extends AppError {
  constructor() {
    super('The console is not built: run `npm run build`, and start the service again', {
      kind: 'not-found',
      code: 'NOT_FOUND',
    });
  }
}

class NoConsoleFile extends AppError {
  constructor() {
    super('The console has no such file; reload the page if the service was updated', {
      kind: 'not-found',
      code: 'NOT_FOUND',
    });
  }
}

/** The folder that `npm run build` writes; undefined when there is none. */
export function builtConsole(): string | undefined {
  try {
    return dirname(installedFolder(join('dist', 'console', INDEX), import.meta.url));
  } catch {
    return undefined;
  }
}

/** Browsers that open the address of the service are led to the console; programs are answered as before. */
export function leadBrowsersToConsole(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const isLed = request.is404 && request.method === 'GET' && /^\/(?:\?|$)/.test(request.url);
    if (!isLed || !isPage(request)) return done();
    void reply.redirect('/console/');
  });
}

/** Serves the console at `/console/`. Its pages have addresses of their own, which are all answered by one file. */
export function serveConsole(fastify: FastifyInstance, folder: string | undefined): void {
  const files = folder === undefined ? new Set<string>() : filesIn(folder);
  const config = { access: 'public', isUncounted: true } as const;
  // Not awaited: routes that load before Nest sets its error handler would never have it.
  void fastify.register(async (scope) => {
    if (folder !== undefined) {
      // `files` decides what is served, so no path of a request is looked up on the disk.
      await scope.register(fastifyStatic, {
        root: folder,
        serve: false,
        preCompressed: true,
        cacheControl: false,
        index: false,
      });
    }
    scope.addHook('onSend', (_request, reply, payload, done) => {
      void reply.header('content-security-policy', POLICY);
      done(null, payload);
    });
    scope.get('/console', { config }, (_request, reply) => reply.redirect('/console/'));
    scope.get<{ Params: { '*': string } }>('/console/*', { config }, (request, reply) =>
      serveFile(request.params['*'], files, request, reply),
    );
  });
}

function serveFile(
  path: string,
  files: ReadonlySet<string>,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (files.size === 0) throw new ConsoleNotBuilt();
  const isFile = files.has(path) && path !== INDEX;
  if (!isFile && path !== '' && path !== INDEX && !isPage(request)) throw new NoConsoleFile();
  void reply.header('vary', 'accept-encoding');
  if (!isFile) return reply.header('cache-control', 'no-store').sendFile(INDEX);
  const caching = HASHED.test(path) ? `public, max-age=${YEAR_S}, immutable` : 'no-cache';
  return reply.header('cache-control', caching).sendFile(path);
}

function filesIn(folder: string): ReadonlySet<string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !COMPRESSED.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
  return new Set(paths);
}

function isPage({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '');
}
