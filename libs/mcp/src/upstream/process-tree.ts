import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { ConnectFailed } from './upstream.errors.js';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const TERM_AFTER_MS = 1_500;
const KILL_AFTER_MS = 1_500;
const GONE_WITHIN_MS = 2_000;
const PROBE_TIMEOUT_MS = 5_000;

/**
 * How a program is kept from outliving us, best first; what this machine allows is found out once.
 * In a PID namespace of its own nothing survives its first process, which dies with us even when we are
 * killed with -9. That first process is a shell which runs the fixed script `"$0" "$@"`: as number 1
 * itself the program would ignore SIGTERM and would have to bury orphans. `--mount-proc` so that
 * programs find themselves in /proc.
 */
const UNSHARE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'] as const;
const INIT = ['sh', '-c', '"$0" "$@"; exit $?'] as const;
export const containers = {
  namespace: ['setpriv', '--pdeathsig', 'KILL', ...UNSHARE, ...INIT],
  deathSignal: ['setpriv', '--pdeathsig', 'KILL'],
  group: [],
} as const satisfies Record<string, readonly string[]>;
export type Container = keyof typeof containers;

let best: Promise<Container> | undefined;

/** A program with everything it starts: in a process group of its own and, where possible, a PID namespace. */
export class ProcessTree {
  readonly exited: Promise<string>;

  private constructor(
    readonly child: ChildProcessByStdio<Writable, Readable, Readable>,
    private readonly container: Container,
  ) {
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        // What it started and left behind must not outlive it.
        this.signal('SIGKILL');
        resolve(describeExit(code, signal));
      });
    });
  }

  static async start(program: Program, given?: Container): Promise<ProcessTree> {
    const container = given ?? (await bestContainer());
    const [command, ...args] = [...wrapper(container), program.command, ...program.args];
    if (command === undefined) throw new ConnectFailed('there is no command');
    const child = spawn(command, args, {
      env: program.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      shell: false,
      windowsHide: true,
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      // Stays: a process that cannot be signalled is no reason for ours to end.
      child.on('error', (error) => reject(new ConnectFailed(`cannot start: ${error.message}`)));
    });
    return new ProcessTree(child, container);
  }

  /** First by the end of its input, then by SIGTERM, then by SIGKILL to the whole tree. */
  async end(force: boolean): Promise<void> {
    const { child } = this;
    child.stdin.end();
    if (!force && !(await this.isGoneWithin(TERM_AFTER_MS))) {
      this.signal('SIGTERM');
      await this.isGoneWithin(KILL_AFTER_MS);
    }
    this.kill();
    if (!(await this.isGoneWithin(GONE_WITHIN_MS))) this.signal('SIGKILL');
    // Whoever got hold of these pipes may keep them open for ever.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  }

  /**
   * A namespace is ended by its first process: the kernel then ends all others, and only after the last
   * of them is gone does the program we started see its end, bury it, and exit.
   */
  private kill(): void {
    const first = this.container === 'namespace' ? firstChildOf(this.child.pid) : undefined;
    if (first === undefined) return this.signal('SIGKILL');
    try {
      process.kill(first, 'SIGKILL');
    } catch {
      // It ended in this very moment.
    }
  }

  private signal(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // Nobody is left in the group, or this platform has none.
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

function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal) return `the process was ended by ${signal}`;
  // By a shell: 128 and the number of the signal.
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

/** Undefined too where there is no such file: then there are no namespaces either. */
function firstChildOf(pid: number | undefined): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return Number(/^\d+/.exec(children)?.[0]) || undefined;
  } catch {
    return undefined;
  }
}

/** By absolute path, because the environment of the server may have a PATH of its own. */
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
