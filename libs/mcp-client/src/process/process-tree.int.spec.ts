import { eventually } from '../../../../test/support/eventually.js';
import { fixture, processesWith } from '../../../../test/support/peers.js';
import { type Container, ProcessTree } from './process-tree.js';

const MARK = `SWITCHBOARD_TEST_MARK=tree-${process.pid}-${Date.now()}`;
const [markName = '', markValue = ''] = MARK.split('=');

/** A program that ignores SIGTERM and has a grandchild; without a namespace, a daemon in its own session would survive. */
const program = {
  command: 'sh',
  args: [
    '-c',
    `sleep 1000 & exec "${process.execPath}" "$0" stdio '{"stubborn":true}'`,
    fixture('hostile.mjs'),
  ],
  env: { PATH: process.env['PATH'] ?? '', [markName]: markValue },
};

describe.each<Container>(['namespace', 'deathSignal', 'group'])(
  'a process tree in a %s',
  (container) => {
    const start = async (): Promise<ProcessTree> => {
      const tree = await ProcessTree.start(program, container);
      await eventually(() => expect(processesWith(MARK).length).toBeGreaterThanOrEqual(2));
      return tree;
    };
    const noProcessIsLeft = (): Promise<void> =>
      eventually(() => expect(processesWith(MARK)).toEqual([]));

    it('ends the whole tree of a program that ignores SIGTERM', async () => {
      const tree = await start();
      await tree.end(false);
      await noProcessIsLeft();
    });

    it('ends the tree at once when forced', async () => {
      const tree = await start();
      await tree.end(true);
      await noProcessIsLeft();
    });

    it('leaves no process when its first process dies', async () => {
      const tree = await start();
      const [pid] = [tree.child.pid].filter((id) => id !== undefined);
      process.kill(pid ?? 0, 'SIGKILL');
      await expect(tree.exited).resolves.toBe('the process was ended by SIGKILL');
      await noProcessIsLeft();
    });
  },
);
