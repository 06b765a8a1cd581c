import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MinilmThread, ThreadBusy } from './minilm-thread.js';

/** Answers with the pieces themselves; dies of 13, refuses 7. */
const WORKER = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ id, pieces }) => {
    if (pieces[0] === 13) process.exit(1);
    if (pieces[0] === 7) return parentPort.postMessage({ id, problem: 'it dislikes sevens' });
    parentPort.postMessage({ id, vector: Float32Array.from(pieces) });
  });
`;

describe(MinilmThread, () => {
  let folder: string;
  let thread: MinilmThread;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-minilm-'));
    await mkdir(join(folder, 'node_modules'));
    await writeFile(join(folder, 'worker.mjs'), WORKER);
    thread = new MinilmThread(folder);
  });
  afterEach(async () => {
    await thread.close();
    await rm(folder, { recursive: true });
  });

  it('answers each text with its own vector', async () => {
    const vectors = await thread.embed([[1], [2], [3]]);
    expect(vectors.map(([first]) => first)).toEqual([1, 2, 3]);
    await expect(thread.embed([])).resolves.toEqual([]);
  });

  it('embeds texts with a deadline before texts for the index', async () => {
    const order: string[] = [];
    const indexing = thread.embed([[1], [2], [3]]).then(() => order.push('indexed'));
    await thread.embed([[4]], AbortSignal.timeout(200_000)).then(() => order.push('answered'));
    await indexing;
    expect(order).toEqual(['answered', 'indexed']);
  });

  it('embeds a text of each asker in turn', async () => {
    const order: string[] = [];
    const deadline = AbortSignal.timeout(200_000);
    const many = Array.from({ length: 10 }, (_, i) =>
      thread.embed([[1], [2], [3], [4]], deadline, 'busy').then(() => order.push(`busy ${i}`)),
    );
    const few = thread.embed([[5], [6]], deadline, 'quiet').then(() => order.push('quiet'));
    await Promise.all([...many, few]);
    expect(order.slice(0, 2)).toEqual(['quiet', 'busy 0']);
    expect(order).toHaveLength(11);
  });

  it('says that it is busy when it worked for others until the deadline, and for an asker with too many texts', async () => {
    const waiting = new AbortController();
    const stop = new AbortController();
    const others = Array.from({ length: 3 }, () => thread.embed([[1], [2]], waiting.signal, 'ada'));
    const late = thread.embed([[1], [2], [3], [4], [5], [6], [7]], stop.signal, 'ada');
    await Promise.all(others);
    stop.abort();
    await expect(late).rejects.toThrow(ThreadBusy);
    const all = Array.from({ length: 65 }, () => thread.embed([[1]], waiting.signal, 'ada'));
    const ended = await Promise.allSettled(all);
    expect(ended.map(({ status }) => status).lastIndexOf('rejected')).toBe(64);
    expect(ended.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  });

  it('rejects a text that cannot be embedded and continues', async () => {
    const refused = thread.embed([[1], [7], [2]]);
    const fine = thread.embed([[3]]);
    await expect(refused).rejects.toThrow('it dislikes sevens');
    await expect(fine).resolves.toHaveLength(1);
  });

  it('rejects all waiting texts when it dies, and restarts on the next one', async () => {
    const waiting = await Promise.allSettled([thread.embed([[13]]), thread.embed([[1]])]);
    expect(waiting.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(thread.embed([[1]])).resolves.toHaveLength(1);
  });

  it('drops texts whose deadline has passed', async () => {
    const stop = new AbortController();
    const answer = thread.embed([[1]], stop.signal);
    stop.abort();
    await expect(answer).rejects.toThrow('it did not answer in time');
    await expect(thread.embed([[1]], stop.signal)).rejects.toThrow('it did not answer in time');
    await expect(thread.embed([[2]])).resolves.toHaveLength(1);
  });

  it('names the command that installs a missing model', async () => {
    await rm(join(folder, 'node_modules'), { recursive: true });
    await expect(thread.embed([[1]])).rejects.toThrow(/minilm:install/);
  });
});
