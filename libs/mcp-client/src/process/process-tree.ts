import { areDescriptorsScarce } from '@app/platform';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { ConnectFailed } from '../upstream.errors.js';
import { type Program, startProblem } from './start-problem.js';

const TERM_AFTER_MS = 1_500;
const KILL_AFTER_MS = 1_500;
const GONE_WITHIN_MS = 2_000;
const PROBE_TIMEOUT_MS = 5_000;

/**
 * Ways to keep a program from outliving this service, best first; which of them the machine allows is probed
 * once. In a PID namespace of its own nothing survives process 1, which dies with us even on SIGKILL. Process 1
 * is a shell that runs the fixed script `"$0" "$@"`: as process 1 itself, the program would ignore SIGTERM and
 * would have to reap orphans. `--mount-proc` so that programs find themselves in /proc.
 */
const UNSHARE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'] as const;
/** Keeps messages of the shell itself, such as "Killed", out of the standard error of the program. */
const INIT = ['sh', '-c', 'exec 3>&2 2>/dev/null; (exec "$0" "$@" 2>&3 3>&-); exit $?'] as const;
export const containers = {
  namespace: ['setpriv', '--pdeathsig', 'KILL', ...UNSHARE, ...INIT],
  deathSignal: ['setpriv', '--pdeathsig', 'KILL'],
  group: [],
} as const satisfies Record<string, readonly string[]>;
export type Container = keyof typeof containers;

let best: Promise<Container> | undefined;

/** A program and its descendants: in a process group of its own and, where possible, a PID namespace. */
export class ProcessTree {
  readonly exited: Promise<string>;

  private constructor(
    readonly child: ChildProcessByStdio<Writable, Readable, Readable>,
    private readonly container: Container,
  ) {
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        // Ends descendants that the program left running.
        this.signal('SIGKILL');
        resolve(describeExit(code, signal));
      });
    });
  }

  static async start(program: Program, given?: Container): Promise<ProcessTree> {
    // Before the probe too: its failure for lack of descriptors would be remembered as "not allowed".
    if (areDescriptorsScarce()) throw new ConnectFailed(`cannot start: ${NO_DESCRIPTORS}`);
    const problem = await startProblem(program);
    if (problem !== undefined) throw new ConnectFailed(`cannot start: ${problem}`);
    const container = given ?? (await bestContainer());
    const [command, ...args] = [...wrapper(container), program.command, ...program.args];
    if (command === undefined) throw new ConnectFailed('there is no command');
    const child = spawn(command, args, {
      env: program.env,
      ...(program.cwd !== undefined && { cwd: program.cwd }),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      shell: false,
      windowsHide: true,
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      // Keep this listener: without one, a failed kill() would end our process.
      child.on('error', (error) => reject(new ConnectFailed(`cannot start: ${reasonOf(error)}`)));
    });
    return new ProcessTree(child, container);
  }

  /** Closes stdin, then sends SIGTERM, then SIGKILL to the whole tree. */
  async end(force: boolean): Promise<void> {
    const { child } = this;
    child.stdin.end();
    if (!force && !(await this.isGoneWithin(TERM_AFTER_MS))) {
      this.signal('SIGTERM');
      await this.isGoneWithin(KILL_AFTER_MS);
    }
    this.kill();
    if (!(await this.isGoneWithin(GONE_WITHIN_MS))) this.signal('SIGKILL');
    // A descendant that inherited these pipes may keep them open for ever.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  }

  /**
   * Kills process 1 of the namespace: the kernel then kills all others, and only after the last of them is
   * gone does the program that we started reap it and exit.
   */
  private kill(): void {
    const first = this.container === 'namespace' ? firstChildOf(this.child.pid) : undefined;
    if (first === undefined) return this.signal('SIGKILL');
    try {
      process.kill(first, 'SIGKILL');
    } catch {
      // It has already exited.
    }
  }

  private signal(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The group is empty, or this platform has no process groups.
      this.child.kill(signal);
    }
  }

  private async isGoneWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const gone = this.exited.then(() => true as const);
    try {
      return await Promise.race([gone, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }
}

const NO_DESCRIPTORS =
  'this service has too few file descriptors left; raise its limit (ulimit -n)';

function reasonOf(error: Error): string {
  const isForWantOfThem = 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE');
  return isForWantOfThem ? NO_DESCRIPTORS : error.message;
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal) return `the process was ended by ${signal}`;
  // A shell reports 128 plus the signal number.
  if (code !== null && code > 128) return `the process was ended by signal ${code - 128}`;
  return `the process exited (code ${code})`;
}

function bestContainer(): Promise<Container> {
  best ??= canRun('namespace').then(async (can) => {
    if (can) return 'namespace';
    return (await canRun('deathSignal')) ? 'deathSignal' : 'group';
  });
  return best;
}

/** Undefined too where this file does not exist, as there are no namespaces either. */
function firstChildOf(pid: number | undefined): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return Number(/^\d+/.exec(children)?.[0]) || undefined;
  } catch {
    return undefined;
  }
}

/** An absolute path, because the environment of the server may have its own PATH. */
function wrapper(container: Container): readonly string[] {
  const programs = ['setpriv', 'unshare', 'sh'];
  return containers[container].map((word) => (programs.includes(word) ? locate(word) : word));
}

function locate(program: string): string {
  const paths = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map((folder) => `${folder}/${program}`);
  return paths.find((path) => existsSync(path)) ?? program;
}

function canRun(container: Container): Promise<boolean> {
  const [command, ...args] = [...wrapper(container), 'true'];
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', timeout: PROBE_TIMEOUT_MS });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}
