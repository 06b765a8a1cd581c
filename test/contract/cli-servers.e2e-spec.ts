import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startApp, type TestApp } from '../support/app.js';
import { type CommandLine, commandLine, program } from '../support/command-line.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { fixture, killAll, processesWith, stdioPeer } from '../support/peers.js';

const { command, args } = stdioPeer(fixture('peer-v1.mjs'), ['stdio']);
const SECRET = 'a-secret-of-this-test';

describe('switchboard servers', () => {
  let service: TestApp;
  let cli: CommandLine;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    service = await startApp({ DATABASE_URL: '' });
    cli = commandLine(service);
    folder = await temporaryFolder();
    const secrets = ['--env', `API_KEY=${SECRET}`, '--env', 'COLOUR=red'];
    const added = await cli.run('servers', 'add', 'peer', ...secrets, '--', command, ...args);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    expect(await cli.run('servers', 'connect', 'peer', '--wait', '60')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^peer is CONNECTED: /),
    });
  });
  afterAll(async () => {
    await service.close();
    await folder.remove();
  });

  /** Of the environment of the peer that runs now. */
  const colours = (): Promise<string[]> =>
    Promise.all(
      processesWith(`API_KEY=${SECRET}`).map(async (pid) => {
        const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
        return /COLOUR=(\w+)/.exec(environment)?.[1] ?? '';
      }),
    );

  const updates = async (): Promise<number> => {
    const { events } = (await cli.json('servers', 'events', 'peer', '--limit', '500')) as {
      events: { event_type: string }[];
    };
    return events.filter((event) => event.event_type === 'UPDATED').length;
  };

  it('lists those with a status, in any case', async () => {
    expect((await cli.run('servers', 'list', '--status', 'connected')).stdout).toMatch(
      /^NAME +STATUS +TRANSPORT +TOOLS\npeer +CONNECTED +STDIO +\d+\n$/,
    );
    expect(await cli.run('servers', '--status', 'Error')).toMatchObject({
      code: 0,
      stdout: 'No server is ERROR.\n',
    });
    expect(await cli.run('servers', 'list', '--status', 'lost')).toMatchObject({ code: 2 });
  });

  it('shows one by name or id, without its secrets', async () => {
    const { stdout } = await cli.run('servers', 'show', 'peer');
    expect(stdout).toMatch(/^name +peer\nid +[0-9a-f-]{36}\nstatus +CONNECTED\n/);
    expect(stdout).toContain('"API_KEY": "********"');
    expect(stdout).not.toContain(SECRET);
    const { id } = await cli.json('servers', 'show', 'peer');
    expect(await cli.json('servers', 'show', String(id))).toMatchObject({ name: 'peer' });
  });

  it('changes a variable and keeps the stored secrets', async () => {
    const set = ['--set', 'env.COLOUR=blue'];
    expect(await cli.run('servers', 'edit', 'peer', ...set)).toMatchObject({ code: 0, stderr: '' });
    await eventually(async () => expect(new Set(await colours())).toEqual(new Set(['blue'])));
  });

  it('opens the configuration in the editor and keeps the stored secrets', async () => {
    const editor = join(folder.path, 'editor.sh');
    await writeFile(editor, `#!/bin/sh\nsed -i 's/"COLOUR": "[*]*"/"COLOUR": "green"/' "$2"\n`);
    await chmod(editor, 0o755);
    const edited = commandLine(service, { EDITOR: `${editor} --wait` });
    expect(await edited.run('servers', 'edit', 'peer')).toMatchObject({ code: 0, stderr: '' });
    await eventually(async () => expect(new Set(await colours())).toEqual(new Set(['green'])));
  });

  it.each([
    ['true', 0, 'Nothing was changed in peer.'],
    ['false', 1, 'The editor "false" ended with 1; nothing was changed.'],
    ['no-such-editor', 1, 'The editor "no-such-editor" ended with 127; nothing was changed.'],
    ['echo "{" >', 2, 'The edited configuration is not valid JSON'],
    ['echo "{}" >', 1, 'connection_config.command: '],
  ])('changes nothing when the editor is %s', async (editor, code, said) => {
    const before = await updates();
    const ran = await commandLine(service, { EDITOR: editor }).run('servers', 'edit', 'peer');
    expect(ran.code).toBe(code);
    expect(ran.stdout + ran.stderr).toContain(said);
    expect(await updates()).toBe(before);
    const [, kept] = /Your text is kept in (.*): /.exec(ran.stderr) ?? [];
    expect(kept !== undefined).toBe(editor.startsWith('echo'));
    if (kept) expect(await readFile(kept, 'utf8')).toMatch(/^\{/);
  });

  it('takes a configuration from standard input, and a description alone', async () => {
    const config = { command, args, env: { LEFT: 'alone' } };
    await cli.json('servers', 'add', 'other', '--no-connect', '--', command, ...args);
    const piped = await cli.pipe(JSON.stringify(config), 'servers', 'edit', 'other', '--file', '-');
    expect(piped).toMatchObject({ code: 0, stderr: '' });
    await cli.json('servers', 'edit', 'other', '--description', 'what it is', '--name', 'renamed');
    expect(await cli.json('servers', 'show', 'renamed')).toMatchObject({
      description: 'what it is',
      connection_config: { env: { LEFT: '********' } },
    });
    expect(await cli.run('servers', 'remove', 'renamed')).toMatchObject({ code: 0, stderr: '' });
    expect(await cli.run('servers', 'show', 'renamed')).toMatchObject({ code: 5, stdout: '' });
  });

  it('registers a configuration from a file', async () => {
    const file = join(folder.path, 'config.json');
    await writeFile(file, JSON.stringify({ base_url: 'http://127.0.0.1:9/mcp' }));
    const given = ['servers', 'add', 'filed', '--no-connect', '--file', file];
    expect(await cli.json(...given)).toMatchObject({ transport_type: 'HTTP' });
    await cli.run('servers', 'remove', 'filed');
  });

  it('disconnects and connects again', async () => {
    expect((await cli.run('servers', 'disconnect', 'peer')).stdout).toMatch(
      /^peer is DISCONNECTED/,
    );
    await eventually(async () => expect(await colours()).toEqual([]));
    expect(await cli.json('servers', 'connect', 'peer', '--wait', '60')).toMatchObject({
      status: 'CONNECTED',
    });
  });

  it('ends with 1 when a connection fails, and prints the reason', async () => {
    await cli.json('servers', 'add', 'broken', '--no-connect', '--', 'false');
    const { code, stdout } = await cli.run('servers', 'connect', 'broken', '--wait', '60');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^broken is ERROR: .*exited/);
    const { events } = (await cli.json('servers', 'events', 'broken')) as { events: object[] };
    expect(events.at(-1)).toMatchObject({ server: 'broken', event_type: 'REGISTERED' });
    await cli.run('servers', 'remove', 'broken');
  });

  it('prints each new line of a program once', async () => {
    const script =
      'let i = 0; const say = () => console.error("line", ++i);' +
      'while (i < 600) say(); setInterval(say, 50)';
    const marker = `FOLLOWED=${SECRET}`;
    const given = ['--env', marker, '--', command, '-e', script];
    await cli.json('servers', 'add', 'noisy', ...given);
    // From then on it writes slower than the lines are read.
    await eventually(async () => {
      const { lines } = await cli.json('servers', 'logs', 'noisy', '--lines', '1');
      expect(lines).toEqual([expect.stringMatching(/^line (?:[6-9]\d\d|\d{4,})$/)]);
    });
    const child = spawn(process.execPath, [program, 'servers', 'logs', 'noisy', '-f'], {
      env: cli.env,
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (printed += part));
    await eventually(() => expect(printed.split('\n').length).toBeGreaterThan(530));
    child.kill();
    await once(child, 'close');
    const numbers = printed
      .split('\n')
      .slice(0, -1)
      .map((line) => Number(line.slice('line '.length)));
    expect(numbers).toEqual(numbers.map((_, i) => (numbers[0] ?? 0) + i));
    const last = await cli.json('servers', 'logs', 'noisy', '--lines', '3');
    expect(last['lines']).toHaveLength(3);
    await cli.run('servers', 'remove', 'noisy');
    killAll(processesWith(marker));
  });
});
