import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { program } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { commandsOf } from '../support/readme.js';

/** Inside the repository, where npx finds the installed server. */
const CACHE = join(process.cwd(), 'node_modules/.cache');

describe('npm run demo', () => {
  let folder: string;
  let demo: ChildProcess;
  let output = '';

  beforeAll(async () => {
    mkdirSync(CACHE, { recursive: true });
    folder = mkdtempSync(join(CACHE, 'first-steps-'));
    demo = spawn(process.execPath, ['dist/apps/aggregator/src/demo.js'], {
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        MCP_AGGREGATOR_PORT: '0',
        MCP_AGGREGATOR_DATA_DIR: join(folder, 'data'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const add = (text: string): string => (output += text);
    demo.stdout?.setEncoding('utf8').on('data', add);
    demo.stderr?.setEncoding('utf8').on('data', add);
    await eventually(() => expect(output).toContain('The service stays up'));
  });
  afterAll(async () => {
    if (demo.exitCode === null) {
      const exit = once(demo, 'exit');
      demo.kill('SIGTERM');
      await exit;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it('finds and calls a tool of a real server, and writes no control codes into a pipe', () => {
    expect(output).toMatch(/^ {2}[\d.]+ {2}filesystem\./m);
    expect(output).toContain('Echo: hello from Switchboard');
    expect(output).not.toContain('\u001B');
  });

  it('is followed by first steps that work when pasted as one block', () => {
    const commands = commandsOf('First steps');
    expect(commands).not.toMatch(/^#/m);
    const { status, stdout } = spawnSync('bash', ['-euc', commands], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 240_000,
    });
    expect(status).toBe(0);
    expect(stdout).toContain('"name":"notes"');
    expect(stdout).toContain('"isError":false');
    expect(stdout).toContain('"tools":[');
  });

  it('has a command line that works as written', () => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    chmodSync(program, 0o755);
    symlinkSync(program, join(bin, 'switchboard'));
    const { status, stdout, stderr } = spawnSync(
      'bash',
      ['--norc', '-euc', commandsOf('Command line')],
      {
        cwd: folder,
        encoding: 'utf8',
        timeout: 240_000,
        env: { PATH: `${bin}:${process.env['PATH']}`, HOME: process.env['HOME'] },
      },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^graph is CONNECTED: .*, 9 tools$/m);
    expect(stdout).toContain('"likes tea"');
    expect(stdout).toContain('what is known about people');
    expect(stdout).toMatch(/ graph +UPDATED /);
    expect(stdout).toContain('graph is removed');
  });
});
