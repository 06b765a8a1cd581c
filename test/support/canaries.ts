import { gunzipSync } from 'node:zlib';
import { createDatabase, dump } from './postgres.js';
import { temporaryFolder } from './env.js';
import { readEvents } from './event-reader.js';
import { type Answer, send, type Sending } from './http.js';
import { Collector } from './collector.js';
import { startProcess } from './service-process.js';

export const ROOT = 'token-of-root-0123456789';
const MIN_CHARS = 8;
const READ = ['/metrics', '/docs/openapi.json', '/health', '/api/v1/aggregator/audit?limit=200'];

/** A service that logs, traces and tells all that it can, and everything that it has said and kept. */
export async function startWatched(
  engine: 'PGlite' | 'PostgreSQL',
  settings: Record<string, string>,
) {
  const folder = await temporaryFolder();
  const collector = await Collector.start();
  const database = engine === 'PGlite' ? undefined : await createDatabase();
  const service = await startProcess(folder.path, {
    MCP_CREDENTIAL_KEY: 'a key for this test alone',
    MCP_AGGREGATOR_TOKENS: `root:admin:${ROOT}`,
    MCP_AGGREGATOR_LOG_LEVEL: 'trace',
    MCP_AGGREGATOR_LOG_FORMAT: 'json',
    MCP_AGGREGATOR_TRACE_SLOW: '0.000001',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ...(database !== undefined && { DATABASE_URL: database }),
    ...settings,
  });
  const events = await readEvents({ url: service.url, token: ROOT });
  const secrets = new Map<string, string>();
  const answers: string[] = [];
  const addresses: string[] = [];

  /** `what` is told in the place of the secret. */
  const hide = (what: string, secret: string | undefined): string => {
    if (secret === undefined || secret.length < MIN_CHARS) throw new Error(`${what} is no secret`);
    secrets.set(secret, what);
    return secret;
  };
  /** An answer that is not meant to have a secret. */
  const ask = async (path: string, sending: Sending = {}): Promise<Answer> => {
    const answer = await send(service.url, path, { token: ROOT, ...sending });
    answers.push(JSON.stringify(answer.headers), answer.text);
    return answer;
  };
  /** All that was said and kept so far, by place. */
  const said = async (): Promise<Readonly<Record<string, readonly string[]>>> => {
    for (const path of READ) await ask(path);
    const response = await fetch(`${service.url}/api/v1/aggregator/backup`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ROOT}` },
    });
    if (response.status !== 200) throw new Error(`the backup answers ${response.status}`);
    const backup = gunzipSync(Buffer.from(await response.arrayBuffer())).toString();
    return {
      answers,
      addresses,
      log: service.output().split('\n'),
      events: events.events.map((one) => JSON.stringify(one)),
      traces: collector.bodies,
      backup: backup.split('\n'),
      ...(database !== undefined && { rows: await dump(database) }),
    };
  };
  return {
    service,
    answers,
    addresses,
    hide,
    ask,
    said,
    /** Where which secret appears: `a refresh token in log: …`, without the secret. */
    leaks: async (): Promise<string[]> => {
      const places = Object.entries(await said());
      return [...secrets].flatMap(([secret, what]) =>
        places.flatMap(([place, texts]) =>
          texts
            .filter((text) => text.includes(secret))
            .map((text) => `${what} in ${place}: ${aroundOf(text, secret)}`),
        ),
      );
    },
    stop: async (): Promise<void> => {
      events.close();
      service.child.kill('SIGKILL');
      await service.exited;
      await collector.close();
      await folder.remove();
    },
  };
}

function aroundOf(text: string, secret: string): string {
  const at = text.indexOf(secret);
  const end = at + secret.length;
  return `${text.slice(Math.max(0, at - 100), at)}[…]${text.slice(end, end + 60)}`;
}
