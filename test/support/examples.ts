import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './env.js';
import { eventually } from './eventually.js';
import { send } from './http.js';
import { type Ran, run } from './run.js';
import { startProcess } from './service-process.js';

export interface Examples {
  /** The working directory of a user who started the service in the repository. */
  readonly folder: string;
  readonly url: string;
  readonly token: string;
  /** Runs the `sh` blocks of an example's README, as written. */
  readonly follow: (example: string) => Promise<Ran>;
  readonly stop: () => Promise<void>;
}

/** Starts the built service as examples/README.md says. */
export async function startExamples(): Promise<Examples> {
  const folder = await temporaryFolder();
  for (const name of ['dist', 'examples', 'node_modules', 'package.json']) {
    await symlink(join(process.cwd(), name), join(folder.path, name));
  }
  const args = ['--config', 'examples/servers.json'];
  const service = await startProcess(join(folder.path, 'data'), {}, args);
  const stop = async (): Promise<void> => {
    service.child.kill();
    await service.exited;
    await folder.remove();
  };
  await eventually(async () => {
    const body = JSON.stringify({ query: 'add two numbers', limit: 1 });
    const options = { method: 'POST', token: service.token, body };
    const answer = await send(service.url, '/api/v1/search', options);
    expect(answer.body).toMatchObject({ tools: [{ name: 'everything.get-sum' }] });
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const follow = async (example: string): Promise<Ran> => {
    const script = await blocksOf(example, 'sh');
    const env = { PATH: process.env['PATH'] };
    return run('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder.path, env });
  };
  return { folder: folder.path, url: service.url, token: service.token, follow, stop };
}

/** The code blocks in that language in an example's README. */
export async function blocksOf(example: string, language: 'sh' | 'text'): Promise<string> {
  const readme = await readFile(join('examples', example, 'README.md'), 'utf8');
  const blocks = readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...blocks].map(([, code]) => code).join('\n');
}
