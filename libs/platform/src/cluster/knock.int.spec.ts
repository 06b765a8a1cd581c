import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { knock } from './knock.js';

const LISTEN = `const server = require('node:net').createServer().listen(0, '127.0.0.1', () =>
  console.log(server.address().port))`;

describe(knock, () => {
  let child: ChildProcess;
  let url: string;

  beforeEach(async () => {
    child = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [port] = child.stdout ? await once(child.stdout, 'data') : [];
    url = `http://127.0.0.1:${Number(String(port))}`;
  });
  afterEach(() => void child.kill('SIGKILL'));

  it('is accepted by a process that is stopped', async () => {
    expect(await knock(url, 60_000)).toBe('accepted');
    child.kill('SIGSTOP');
    expect(await knock(url, 60_000)).toBe('accepted');
  });

  it('is refused when the process was killed', async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await knock(url, 60_000)).toBe('refused');
  });

  it('says nothing of a name without an address', async () => {
    expect(await knock('http://replica.invalid', 60_000)).toBe('unknown');
  });
});
