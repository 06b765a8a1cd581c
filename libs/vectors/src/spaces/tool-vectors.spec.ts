import { Logger } from '@nestjs/common';
import { Clock } from '@app/platform';
import { eventually } from '../../../../test/support/eventually.js';
import { Embedder } from '../embed/embedder.js';
import { normalise } from '../indexes/vector-math.js';
import { ExactIndex } from '../indexes/exact-index.js';
import { FakeToolVectorStore } from './fake-tool-vector.store.js';
import { ToolVectors } from './tool-vectors.js';
import { VectorItem } from './vector-item.js';
import { VectorSpace } from './vector-space.js';
import { EmbeddingBusy, EmbeddingFailed } from '../vectors.errors.js';

/** Vectors are counts of three letters; says what it was asked. */
class LetterEmbedder extends Embedder {
  readonly asked: string[] = [];
  failing = false;
  busy = false;

  constructor(readonly modelId: string) {
    super();
  }

  embed(texts: readonly string[]): Promise<(Float32Array | undefined)[]> {
    if (this.failing) return Promise.reject(new EmbeddingFailed(this.modelId, 'it is a test'));
    if (this.busy) return Promise.reject(new EmbeddingBusy(this.modelId));
    this.asked.push(...texts);
    return Promise.resolve(
      texts.map((text) =>
        normalise(Float32Array.from(['a', 'b', 'c'], (letter) => text.split(letter).length - 1)),
      ),
    );
  }
}

class SettableClock extends Clock {
  time = Date.now();
  override monotonic(): number {
    return this.time;
  }
}

const item = (id: number, text: string): VectorItem =>
  new VectorItem(id, () => text, { name: text });

function setUp(withFallback = false) {
  const clock = new SettableClock();
  const rows = new FakeToolVectorStore();
  const configured = new LetterEmbedder('configured');
  const local = new LetterEmbedder('local');
  const index = new ExactIndex();
  const fallback = withFallback ? new VectorSpace(local, new ExactIndex(), clock) : undefined;
  const space = new VectorSpace(configured, index, clock, rows);
  const vectors = new ToolVectors(space, fallback, rows, clock);
  const find = async (text: string): Promise<number[] | undefined> =>
    (await vectors.search([text], 10, {})).hits?.[0]?.map(({ id }) => id);
  return { clock, rows, configured, local, index, vectors, find };
}

describe(ToolVectors, () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('finds exactly the tools that it converged to', async () => {
    const { vectors, find } = setUp();
    await vectors.converge([item(1, 'aaa'), item(2, 'bbb')]);
    expect(await find('aab')).toEqual([1, 2]);
    await vectors.converge([item(2, 'aaa'), item(3, 'abc')]);
    expect(await find('a')).toEqual([2, 3]);
  });

  it('follows a change without the other tools, once it has converged', async () => {
    const { vectors, configured, find } = setUp();
    expect(await vectors.follow([item(1, 'aaa')], [])).toBe(false);
    await vectors.converge([item(1, 'aaa'), item(2, 'bbb'), item(3, 'ccc')]);
    configured.asked.length = 0;
    expect(await vectors.follow([item(2, 'abb'), item(3, 'ccc'), item(4, 'aab')], [1, 9])).toBe(
      true,
    );
    expect(configured.asked).toEqual(['abb', 'aab']);
    expect(await find('a')).toEqual([4, 2, 3]);
  });

  it('does not embed a text again when only its payload changes, though no rows keep vectors', async () => {
    const { configured } = setUp();
    const space = new VectorSpace(configured, new ExactIndex(), new SettableClock());
    await space.converge([item(1, 'aaa'), item(2, 'bbb')]);
    configured.asked.length = 0;
    await space.follow([new VectorItem(1, () => 'aaa', { name: 'renamed' })], []);
    expect(configured.asked).toEqual([]);
    const [found] = await space.search(['a'], 10, { name: ['renamed'] });
    expect(found).toEqual([{ id: '1', score: 1 }]);
  });

  it('embeds a text once, and only changed ones again', async () => {
    const { vectors, configured } = setUp();
    await vectors.converge([item(1, 'aaa'), item(2, 'bbb')]);
    await vectors.converge([item(1, 'aaa'), item(2, 'bbc')]);
    await vectors.converge([item(1, 'aaa'), item(2, 'bbc')]);
    expect(configured.asked.filter((text) => text !== 'a tool')).toEqual(['aaa', 'bbb', 'bbc']);
  });

  it('fills a new index from rows without calling the model', async () => {
    const { rows, vectors } = setUp();
    await vectors.converge([item(1, 'aaa')]);
    const configured = new LetterEmbedder('configured');
    const space = new VectorSpace(configured, new ExactIndex(), new Clock(), rows);
    await space.converge([item(1, 'aaa')]);
    expect(configured.asked).toEqual(['a tool']);
  });

  it('replaces all vectors when the model changes', async () => {
    const { rows, vectors } = setUp();
    await vectors.converge([item(1, 'aaa')]);
    const another = new LetterEmbedder('another');
    const space = new VectorSpace(another, new ExactIndex(), new Clock(), rows);
    await new ToolVectors(space, undefined, rows, new Clock()).converge([item(1, 'aaa')]);
    expect(another.asked).toContain('aaa');
    expect(await rows.modelIds()).toEqual(['another']);
  });

  it('keeps points of tools that another replica has added', async () => {
    const { rows, index, vectors } = setUp();
    await vectors.converge([item(1, 'aaa'), item(2, 'bbb')]);
    rows.tools = [2];
    await vectors.converge([]);
    expect([...(await index.stored()).keys()]).toEqual(['2']);
  });

  it('retries texts without a vector only after a pause', async () => {
    const { clock, vectors, configured, find } = setUp();
    await vectors.converge([item(1, 'xyz'), item(2, 'abc')]);
    await vectors.converge([item(1, 'xyz'), item(2, 'abc')]);
    expect(await find('abc')).toEqual([2]);
    expect(configured.asked.filter((text) => text === 'xyz')).toEqual(['xyz']);
    expect(await find('xyz')).toEqual([]);
    clock.time += 600_000;
    await vectors.converge([item(1, 'xyz'), item(2, 'abc')]);
    expect(configured.asked.filter((text) => text === 'xyz').length).toBeGreaterThan(1);
  });

  it.each([false, true])(
    'has vectors of the built-in model of texts that have not changed, with another model: %s',
    async (withFallback) => {
      const { vectors, local, configured } = setUp(withFallback);
      const [one, two] = [item(1, 'aaa'), item(2, 'bbb')];
      expect(vectors.builtInVectorOf(one)).toBeUndefined();
      const converging = vectors.converge([one, two]);
      await vectors.builtInSettled();
      (withFallback ? local : configured).asked.length = 0;
      expect(vectors.builtInVectorOf(one)).toEqual(Float32Array.of(1, 0, 0));
      expect(vectors.builtInVectorOf(new VectorItem(1, () => 'aaa', { name: 'renamed' }))).toEqual(
        Float32Array.of(1, 0, 0),
      );
      expect(vectors.builtInVectorOf(item(1, 'aab'))).toBeUndefined();
      expect(vectors.builtInVectorOf(item(3, 'aaa'))).toBeUndefined();
      expect((withFallback ? local : configured).asked).toEqual([]);
      await converging;
    },
  );

  it('asks a busy model again with the next query, and says why another one answered', async () => {
    const { vectors, configured } = setUp(true);
    await vectors.converge([item(1, 'aaa')]);
    configured.busy = true;
    expect(await vectors.search(['a'], 10, {})).toMatchObject({
      modelId: 'local',
      problem: 'The embedding model configured is busy with other queries',
    });
    configured.busy = false;
    expect(await vectors.search(['a'], 10, {})).toMatchObject({
      modelId: 'configured',
      problem: undefined,
    });
  });

  it('has no hits but a reason when no model is available', async () => {
    const { vectors, configured } = setUp();
    await vectors.converge([item(1, 'aaa')]);
    configured.failing = true;
    expect(await vectors.search(['b'], 10, {})).toEqual({
      hits: undefined,
      modelId: undefined,
      problem: 'The embedding model configured cannot be used: it is a test',
    });
  });

  it('does not wait for a model that is being loaded', async () => {
    const { vectors, configured, find } = setUp(true);
    configured.embed = () => new Promise(() => undefined);
    void vectors.converge([item(1, 'aaa'), item(2, 'bbb')]);
    await eventually(async () => expect(await find('a')).toEqual([1, 2]));
    expect(await vectors.search(['b'], 1, {})).toMatchObject({
      hits: [[{ id: 2 }]],
      modelId: 'local',
      problem: expect.stringContaining('not complete'),
    });
  });

  it('uses the local model until the configured one is complete', async () => {
    const { vectors, configured, find } = setUp(true);
    configured.failing = true;
    await expect(vectors.converge([item(1, 'aaa')])).rejects.toThrow('it is a test');
    expect(await find('a')).toEqual([1]);
    expect((await vectors.search(['a'], 10, {})).problem).toMatch(/it is a test/);
    configured.failing = false;
    await vectors.converge([item(1, 'aaa')]);
    expect((await vectors.search(['a'], 10, {})).problem).toBeUndefined();
  });

  describe('when the model changes', () => {
    async function changed(old: LetterEmbedder | undefined) {
      const before = setUp();
      const items = [item(1, 'aaa'), item(2, 'bbb')];
      await before.vectors.converge(items);
      const next = new LetterEmbedder('next');
      const { clock, rows } = before;
      const vectors = new ToolVectors(
        new VectorSpace(next, new ExactIndex(), clock, rows),
        undefined,
        rows,
        clock,
        async (modelId) =>
          old?.modelId === modelId
            ? new VectorSpace(old, new ExactIndex(), clock, rows)
            : undefined,
      );
      next.failing = true;
      await vectors.converge([...items, item(3, 'ccc')]).catch(() => undefined);
      return { vectors, next, rows, items };
    }

    it('the old one is used until the new one is complete', async () => {
      const old = new LetterEmbedder('configured');
      const { vectors, next, rows, items } = await changed(old);
      const answer = await vectors.search(['aab'], 10, {});
      expect(answer.hits?.[0]?.map(({ id }) => id)).toEqual([1, 2]);
      expect(answer.problem).toMatch(/model next cannot be used: it is a test/);
      expect(old.asked).toEqual(['aab']);
      next.failing = false;
      await vectors.converge(items);
      expect(await vectors.search(['aab'], 10, {})).toMatchObject({ problem: undefined });
      expect(next.asked).toContain('aab');
      expect(await rows.modelIds()).toEqual(['next']);
    });

    it('there is no answer if the old one is unreachable', async () => {
      const { vectors } = await changed(undefined);
      expect((await vectors.search(['aab'], 10, {})).hits).toBeUndefined();
    });
  });

  it('forgets what an older version kept of a model whose vectors are not kept any more', async () => {
    const { clock, rows } = setUp();
    const row = { toolId: 1, textHash: 'hash', vector: Float32Array.of(1) };
    for (const modelId of ['static-1', 'static-2']) await rows.save(modelId, [row]);
    const local = new VectorSpace(new LetterEmbedder('static-2'), new ExactIndex(), clock);
    const vectors = new ToolVectors(local, undefined, rows, clock);
    await vectors.converge([item(1, 'aaa')]);
    expect(await rows.modelIds()).toEqual([]);
  });

  it('skips a failed model during its pause', async () => {
    const { clock, vectors, configured, local, find } = setUp(true);
    await vectors.converge([item(1, 'aaa')]);
    configured.failing = true;
    await find('b');
    configured.failing = false;
    await find('ab');
    expect(configured.asked).not.toContain('ab');
    expect(local.asked).toContain('ab');
    clock.time += 60_000;
    await find('abc');
    expect(configured.asked).toContain('abc');
  });
});
