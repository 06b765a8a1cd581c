import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { commandLine, program } from '../support/command-line.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/peers.js';
import { run } from '../support/run.js';

const cli = commandLine({ url: 'http://127.0.0.1:9', token: 'none' });

describe('switchboard without a service', () => {
  it('prints its version', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    const expected = { code: 0, stdout: `${version}\n`, stderr: '' };
    expect(await cli.run('--version')).toEqual(expected);
    expect(await cli.run('-V')).toEqual(expected);
  });

  it.each(['servers', 'servers add', 'tools call', 'completion'])(
    'has help for %s, with the options of all commands and the exit codes',
    async (words) => {
      const { code, stdout, stderr } = await cli.run(...words.split(' '), '--help');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^Usage: switchboard ${words} `));
      expect(stdout).toContain('--json');
      expect(stdout).toContain('Exit codes: 0 done');
    },
  );

  it('prints its usage without arguments', async () => {
    const { code, stderr, stdout } = await cli.run();
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: switchboard /);
    expect(await cli.run('help', 'servers')).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    [['sevrers'], 'There is no command sevrers. (Did you mean servers?) "switchboard --help"'],
    [
      ['servers', 'shwo'],
      '"switchboard servers list" does not take shwo. "switchboard servers --help"',
    ],
    [
      ['servers', 'show'],
      'Missing required argument \'server\'. "switchboard servers show --help"',
    ],
    [
      ['servers', 'add', 'x', '-y'],
      "Unknown option '-y'. Options of the program to register come after --.",
    ],
    [['servers', 'add', 'x'], 'Give exactly one of -- <command>'],
    [
      ['servers', 'add', 'x', '--server-url', 'http://x', '--', 'y'],
      'Give exactly one of -- <command>',
    ],
    [['servers', 'add', 'x', '--sse', '--', 'y'], '--header and --sse are for servers with'],
    [
      ['servers', 'add', 'x', '--server-url', 'http://x', '--env', 'A=1'],
      '--env and --cwd are for',
    ],
    [['servers', 'edit', 'x', '--file', 'f', '--set', 'a=b'], '--file replaces the whole'],
    [['servers', 'edit', 'x', '--file', 'no-such-file'], 'There is no file no-such-file'],
    [['servers', 'connect', 'x', '--wait', '61'], 'It must be a number of seconds from 0 to 60.'],
    [['tools', '--limit', '1.5'], 'It must be a whole number above 0.'],
    [['tools', 'call', 'x', '{}', 'a=1'], 'Give the arguments once'],
    [['tools', 'call', 'x', '--json-args', '[]'], 'The arguments must be a JSON object'],
    [['completion', 'tcsh'], 'Allowed choices are bash, zsh, fish.'],
    [['servers', '--url', 'ftp://x'], 'ftp://x is not an http or https URL'],
  ])('refuses %j in a sentence', async (words, said) => {
    const ran = await cli.run(...words);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain(said);
    expect(ran.stderr.split('\n')).toHaveLength(2);
  });

  it('refuses in JSON for programs', async () => {
    const { code, stdout, stderr } = await cli.run('sevrers', '--json');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({ error: expect.stringContaining('no command sevrers') });
  });

  it('names the command to start the service when none answers', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await commandLine({ url, token: 'x' }).run('status')).toEqual({
      code: 3,
      stdout: '',
      stderr: `There is no service at ${url}. Start it with "npm start", or set its address with --url.\n`,
    });
  });

  it('reports a proxy without a service behind it', async () => {
    const proxy = createServer((_request, response) => response.writeHead(502).end('<h1>Bad</h1>'));
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const ran = await commandLine({ url, token: 'x' }).run('status');
    proxy.close();
    expect(ran).toMatchObject({ code: 3, stdout: '' });
    expect(ran.stderr).toContain('answered HTTP 502');
  });
});

describe('completion', () => {
  it('stops waiting for a service that does not answer', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const ran = await commandLine({ url, token: 'x' }).run('complete', '--', 'tools', 'call', '');
    silent.closeAllConnections();
    silent.close();
    expect(ran).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('never offers names that a shell would run', async () => {
    const tools = ['good.tool', 'bad.$(touch x)', 'bad.`x`', 'bad.a;b', 'bad.a b', 'bad.\u001B[2J'];
    const listing = { total: tools.length, limit: 500, offset: 0, tools: tools.map(toolNamed) };
    const service = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(listing));
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const cli = commandLine({ url, token: 'x' });
    // Repeated: a service that does not answer in time leaves a shell without names.
    await eventually(async () => {
      const { stdout } = await cli.run('complete', '--', 'tools', 'call', '');
      expect(stdout).toBe('good.tool\tone two\n');
    });
    service.closeAllConnections();
    service.close();
  });

  it('works in bash, with the words as they are typed', async () => {
    const folder = await temporaryFolder();
    const bin = join(folder.path, 'bin');
    await mkdir(bin);
    await chmod(program, 0o755);
    await symlink(program, join(bin, 'switchboard'));
    const script = join(folder.path, 'try.sh');
    await writeFile(
      script,
      `eval "$(switchboard completion bash)"
      COMP_WORDS=(switchboard servers ed) COMP_CWORD=2
      _switchboard
      echo "\${COMPREPLY[@]}"
      COMP_WORDS=(switchboard clients --endpoint '') COMP_CWORD=3
      _switchboard
      echo "\${COMPREPLY[@]}"
      complete -p switchboard`,
    );
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    const ran = await run('bash', ['--norc', script], { env });
    await folder.remove();
    expect(ran).toMatchObject({
      code: 0,
      stdout: 'edit\nall search\ncomplete -F _switchboard switchboard\n',
      stderr: '',
    });
  });
});

function toolNamed(name: string): object {
  return { name, description: 'one\n two', skill_ids: [], original_name: name, id: '1' };
}
