import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/support/env.js';
import { eventually } from '../../../../test/support/eventually.js';
import { ProcessTree } from './process-tree.js';
import { startProblem } from './start-problem.js';
import { ConnectFailed } from '../upstream.errors.js';

const env = { PATH: process.env['PATH'] ?? '' };

describe(startProblem.name, () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const script = (name: string, text: string, mode = 0o755): string => {
    const file = join(folder.path, name);
    writeFileSync(file, text);
    chmodSync(file, mode);
    return file;
  };
  const problem = (command: string, more: object = {}) =>
    startProblem({ command, args: [], env, ...more });

  it('finds programs as a shell does', async () => {
    script('here.sh', '#!/bin/sh\n');
    expect(await problem('sh')).toBeUndefined();
    expect(await problem(process.execPath)).toBeUndefined();
    expect(await problem('./here.sh', { cwd: folder.path })).toBeUndefined();
    expect(await problem('here.sh', { env: { PATH: `/nowhere:${folder.path}` } })).toBeUndefined();
  });

  it('names what is missing', async () => {
    const closed = script('closed.sh', '#!/bin/sh\n', 0o644);
    const strange = script('strange.sh', '#!/no/such/interpreter -x\n');
    expect(await problem('no-such-program')).toMatch(
      /^there is no program no-such-program in the PATH/,
    );
    expect(await problem('/no/such/program')).toBe('there is no program /no/such/program');
    expect(await problem(folder.path)).toBe(`${folder.path} is no file`);
    expect(await problem(closed)).toBe(`${closed} is not executable (chmod +x)`);
    expect(await problem(strange)).toBe(
      `${strange} needs /no/such/interpreter, which does not exist`,
    );
    expect(await problem('sh', { cwd: 'here' })).toContain('is not an absolute path');
  });

  it('starts no process for a program that cannot start', async () => {
    await expect(
      ProcessTree.start({ command: 'no-such-program', args: [], env }),
    ).rejects.toBeInstanceOf(ConnectFailed);
  });
});

describe('the wrapper that keeps a program from outliving us', () => {
  it.each(['SEGV', 'KILL', 'TERM'])(
    'writes nothing to the log of the program when it is ended by SIG%s',
    async (signal) => {
      const program = { command: 'sh', args: ['-c', `echo mine >&2; kill -${signal} $$`], env };
      const tree = await ProcessTree.start(program);
      let said = '';
      tree.child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
      await tree.exited;
      await eventually(() => expect(said).toBe('mine\n'));
      await tree.end(true);
      expect(said).toBe('mine\n');
    },
  );
});
