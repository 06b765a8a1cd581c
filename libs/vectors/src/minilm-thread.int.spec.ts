import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MinilmThread } from './minilm-thread.js';

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

  it('serves whoever waits with a deadline before those who index', async () => {
    const order: string[] = [];
    const indexing = thread.embed([[1], [2], [3]]).then(() => order.push('indexed'));
    await thread.embed([[4]], AbortSignal.timeout(20_000)).then(() => order.push('answered'));
    await indexing;
    expect(order).toEqual(['answered', 'indexed']);
  });

  it('tells who asked when a text cannot be embedded, and goes on', async () => {
    const refused = thread.embed([[1], [7], [2]]);
    const fine = thread.embed([[3]]);
    await expect(refused).rejects.toThrow('it dislikes sevens');
    await expect(fine).resolves.toHaveLength(1);
  });

  it('tells everybody who waits when it dies, and starts again when asked again', async () => {
    const waiting = await Promise.allSettled([thread.embed([[13]]), thread.embed([[1]])]);
    expect(waiting.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(thread.embed([[1]])).resolves.toHaveLength(1);
  });

  it('lets go of whom the time has run out for', async () => {
    const stop = new AbortController();
    const answer = thread.embed([[1]], stop.signal);
    stop.abort();
    await expect(answer).rejects.toThrow('it did not answer in time');
    await expect(thread.embed([[1]], stop.signal)).rejects.toThrow('it did not answer in time');
    await expect(thread.embed([[2]])).resolves.toHaveLength(1);
  });

  it('says how it is installed where it is not', async () => {
    await rm(join(folder, 'node_modules'), { recursive: true });
    await expect(thread.embed([[1]])).rejects.toThrow(/minilm:install/);
  });
});
