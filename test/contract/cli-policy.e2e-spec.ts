import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startApp, type TestApp } from '../support/app.js';
import { type CommandLine, commandLine, program } from '../support/command-line.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { fixture } from '../support/peers.js';
import { commandsOf } from '../support/readme.js';
import { run } from '../support/run.js';

const WITHIN_MS = 300_000;
const node = [process.execPath, fixture('named-tools.mjs')] as const;

describe('switchboard', () => {
  let service: TestApp;
  let cli: CommandLine;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    service = await startApp();
    folder = await temporaryFolder();
    cli = commandLine(service);
    const github = ['get_issue owner number', 'list_issues owner', '!create_issue owner title'];
    await cli.json('servers', 'add', 'github', '--', ...node, ...github);
    await cli.json('servers', 'add', 'docs', '--', ...node, 'search_pages text', 'other');
    await eventually(async () => {
      const { tools } = (await cli.json('tools')) as { tools: { name: string }[] };
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['github.get_issue', 'docs.other']),
      );
    });
  }, WITHIN_MS);
  afterAll(async () => {
    await service.close();
    await folder.remove();
  });

  const says = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cli.run(...words);
    expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
    return stdout;
  };

  it(
    'gives a team what the README says, with its commands as they stand',
    async () => {
      const bin = join(folder.path, 'bin');
      await mkdir(bin);
      await chmod(program, 0o755);
      await symlink(program, join(bin, 'switchboard'));
      const env = { ...cli.env, PATH: `${bin}:${cli.env['PATH']}` };
      const commands = commandsOf('For a team');
      expect(commands.trim().split('\n')).toHaveLength(5);
      const ran = await run('bash', ['--norc', '-euc', commands], { cwd: folder.path, env });
      expect(ran).toMatchObject({ code: 0, stderr: '' });
      const [, token = ''] = /^token +(\S+)$/m.exec(ran.stdout) ?? [];

      const client = new Client({ name: 'helpdesk', version: '1' });
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      const url = new URL(`${service.url}/mcp`);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name).filter((name) => !name.startsWith('mcp__proxy'));
      expect(names).toEqual(['docs__search_pages', 'github__get_issue', 'github__list_issues']);
      const called = await client.callTool({
        name: 'github__get_issue',
        arguments: { number: '7' },
      });
      expect(called.content).toMatchObject([{ text: expect.stringContaining('"owner":"acme"') }]);
      const refused = client.callTool({ name: 'github__create_issue', arguments: { title: 'x' } });
      await expect(refused).rejects.toThrow('github__create_issue');
      await client.close();
      const file = await readFile(join(folder.path, 'team.json'), 'utf8');
      expect(JSON.parse(file)).toHaveProperty('views.support.overrides');
    },
    WITHIN_MS,
  );

  it(
    'makes, changes, copies and removes views',
    async () => {
      const made = await says('views', 'create', 'desk', '--include', 'github', '--title', 'Desk');
      expect(made).toMatch(/^view +desk\ntitle +Desk\naddress +\/mcp\/views\/desk\n/);
      await says('views', 'edit', 'desk', '--exclude', '*.create_*', '--include', 'docs.search*');
      const shown = await says('views', 'show', 'desk');
      expect(shown).toMatch(/^1 +include +everything of github$/m);
      expect(shown).toMatch(/^2 +include +tools named search\* of docs$/m);
      expect(shown).toMatch(/^3 +exclude +everything named create_\*$/m);
      await says('views', 'edit', 'desk', '--drop', '1', '--title', '');
      await says('views', 'clone', 'desk', 'desk-2');
      const preview = await says('views', 'preview', 'desk-2');
      expect(preview).toMatch(
        /^TOOL +FROM +BY THE RULE FOR\ndocs\.search_pages +docs\.search_pages +tools named /,
      );
      expect(await says('views')).toMatch(/^desk-2 +2 *$/m);
      expect(await says('views', 'preview', 'desk', '--as', 'token:x')).toBe(
        'token:x has no grant on desk.\n',
      );
      expect(await says('views', 'remove', 'desk-2')).toBe('desk-2 is removed.\n');
      expect(await cli.run('views', 'show', 'desk-2')).toMatchObject({ code: 5, stdout: '' });
    },
    WITHIN_MS,
  );

  it(
    'gives, lists and withdraws grants, and explains what follows',
    async () => {
      await says('views', 'create', 'granted', '--include', 'github.get_issue');
      const give = ['grants', 'give', 'token:ci', 'granted', '--level', 'call_read_only'];
      expect(await says(...give, '--calls-per-minute', '60', '--expires', '30d')).toBe(
        'token:ci may use granted: call_read_only.\n',
      );
      expect(await says('grants', '--view', 'granted')).toMatch(
        /^SUBJECT.*\ntoken:ci +granted +call_read_only +\S+Z +60\n$/,
      );
      const explained = ['access', 'explain', 'token:ci', 'granted', 'github.get_issue'];
      expect(await says(...explained)).toMatch(/^listed +yes\ncallable +yes\n/);
      expect(await says('access', 'explain', 'user:ada', 'granted', 'github.get_issue')).toMatch(
        /^listed +no/,
      );
      await says('grants', 'give', 'group:crew', 'granted');
      const asCrew = ['user:ada', 'granted', 'github.get_issue', '--with', 'group:crew'];
      expect(await says('access', 'explain', ...asCrew)).toMatch(/^listed +yes/);
      await says('grants', 'withdraw', 'token:ci', 'granted');
      expect(await says(...explained)).toMatch(/^listed +no\ncallable +no\nbecause +.*no grant/);
      expect(await cli.run('grants', 'withdraw', 'token:ci', 'granted')).toEqual({
        code: 5,
        stdout: '',
        stderr: 'token:ci has no grant on granted.\n',
      });
    },
    WITHIN_MS,
  );

  it(
    'sets, shows and removes overrides',
    async () => {
      const set = ['overrides', 'set', 'docs.other', '--name', 'others', '--preset', 'n={"a":1}'];
      expect(await says(...set, '--annotation', 'readOnlyHint=true')).toMatch(
        /^tool +docs\.other\nview +\(every view\)\nname +others\n/,
      );
      expect(await says('overrides')).toMatch(
        /^docs\.other +\(every view\) +name, annotations, preset_arguments$/m,
      );
      const shown = await cli.json('overrides', 'show', 'docs.other');
      expect(shown).toMatchObject({ preset_arguments: { n: { a: 1 } }, has_drifted: false });
      expect(await says('overrides', 'remove', 'docs.other')).toBe('docs.other has no override.\n');
      expect(await cli.run('overrides', 'show', 'docs.other')).toMatchObject({ code: 5 });
      expect(await says('policy', 'history', '--limit', '1')).toMatch(
        /override\.removed +docs\.other in every view +admin\n$/,
      );
    },
    WITHIN_MS,
  );

  it(
    'imports what it exported, and removes the rest when it is asked to',
    async () => {
      const file = join(folder.path, 'policy.json');
      await says('policy', 'export', file);
      const text = await readFile(file, 'utf8');
      expect(text).toBe(await says('policy', 'export'));
      expect(await says('import', file)).toMatch(
        /^\d+ views, grants and overrides are so already\.\n$/,
      );
      await says('views', 'create', 'surplus');
      await says('import', file);
      expect(await says('views')).toContain('surplus');
      expect(await says('import', file, '--prune')).toMatch(/^views\.surplus +removed$/m);
      expect(await says('policy', 'export')).toBe(text);
    },
    WITHIN_MS,
  );

  it.each([
    ['{"views":{"a":{"rules":[{"effect":"hide"}]}}}', 1, 'views.a.rules.0.effect: An effect is'],
    ['{"views":[]}', 2, '"views" must be an object'],
  ])('names the place of a mistake in %s', async (text, code, said) => {
    const file = join(folder.path, 'mistaken.json');
    await writeFile(file, text);
    const ran = await cli.run('import', file);
    expect(ran).toMatchObject({ code, stdout: '' });
    expect(ran.stderr).toContain(said);
  });

  it('imports YAML, and says where it is no YAML', async () => {
    const file = join(folder.path, 'views.yml');
    await writeFile(file, 'views:\n  yaml:\n    rules: [{server: docs}]\n');
    expect(await says('import', file)).toMatch(/^views\.yaml +changed$/m);
    await writeFile(file, 'views:\n  yaml: [\nrules: 1\n');
    const ran = await cli.run('import', file);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain('it is not valid YAML: see line');
  });

  it('says which part of a file it could not apply, and why', async () => {
    const file = join(folder.path, 'partly.json');
    const rules = [{ server: 'nowhere' }];
    await writeFile(file, JSON.stringify({ views: { partly: { rules } } }));
    const ran = await cli.run('import', file);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(
      /^views\.partly\.rules\.0\.server +refused: No server is named nowhere; register it first$/m,
    );
  });

  it.each([
    [['views', 'edit', 'x'], 'Give what to change'],
    [['views', 'create', 'x', '--include', 'a*.b'], 'a*.b must name one server, or *'],
    [['views', 'create', 'x', '--include', 'a.'], 'a. must read server, server.tool, or *'],
    [['grants', 'give', 'ci', 'x'], 'It must be anyone, or token:, user:, group: or client:'],
    [['grants', 'give', 'anyone', 'x', '--level', 'all'], 'Allowed choices are read'],
    [['overrides', 'set', 'x'], 'Give what to set'],
    [['tokens', 'create', 'x', '--level', 'read'], '--level is about the view of the token'],
  ])('refuses %j as wrong usage', async (words, said) => {
    const ran = await cli.run(...words);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain(said);
  });
});
