import { Logger } from '@nestjs/common';
import {
  type Answer,
  type FakeEndpoint,
  refuse,
  startFakeEndpoint,
} from '../../../../test/fixtures/fake-endpoint.js';
import { RemoteEmbedder } from './remote-embedder.js';

const SECRET = 'sk-not-to-be-seen';

/** A vector that tells which text it is of: its length, and one. */
const honest: Answer = ({ body }) => ({
  object: 'list',
  data: inputOf(body)
    .map((text, index) => ({ object: 'embedding', index, embedding: [text.length, 1, 0] }))
    .reverse(),
});

function inputOf(body: unknown): string[] {
  const input = typeof body === 'object' && body !== null && 'input' in body ? body.input : [];
  return Array.isArray(input) ? input.map(String) : [];
}

const vectors = (...embeddings: unknown[]): Answer => {
  return () => ({ data: embeddings.map((embedding, index) => ({ index, embedding })) });
};

let endpoint: FakeEndpoint;
beforeEach(async () => {
  endpoint = await startFakeEndpoint(honest);
});
afterEach(() => endpoint.close());

const embedder = (url = `${endpoint.url}/v1`): RemoteEmbedder =>
  new RemoteEmbedder({ url, apiKey: SECRET, model: 'small' });

describe(RemoteEmbedder, () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('calls an OpenAI-compatible endpoint, with or without /embeddings in the URL', async () => {
    await embedder().embed(['a']);
    await embedder(`${endpoint.url}/v1/embeddings`).embed(['a']);
    for (const request of endpoint.requests) {
      expect(request.path).toBe('/v1/embeddings');
      expect(request.authorization).toBe(`Bearer ${SECRET}`);
      expect(request.body).toEqual({ model: 'small', input: ['a'], encoding_format: 'float' });
    }
  });

  it('returns unit vectors in the order of the texts, in whatever order the endpoint answers', async () => {
    const [short, long] = await embedder().embed(['ab', 'abcdef']);
    expect((short?.[0] ?? 0) / (short?.[1] ?? 1)).toBeCloseTo(2);
    expect((long?.[0] ?? 0) / (long?.[1] ?? 1)).toBeCloseTo(6);
    expect(Math.hypot(...(long ?? []))).toBeCloseTo(1);
  });

  it('sends many texts in batches', async () => {
    const texts = Array.from({ length: 250 }, (_, i) => 'x'.repeat(i + 1));
    const found = await embedder().embed(texts);
    expect(endpoint.requests.length).toBe(3);
    expect(found.map((vector) => Math.round((vector?.[0] ?? 0) / (vector?.[1] ?? 1)))).toEqual(
      texts.map((text) => text.length),
    );
  });

  it('retries when the endpoint is busy', async () => {
    let busy = 2;
    endpoint.answer = (request, response) =>
      busy-- > 0 ? refuse(429)(request, response) : honest(request, response);
    await expect(embedder().embed(['a'])).resolves.toHaveLength(1);
    expect(endpoint.requests.length).toBe(3);
  });

  it('has no vector for zeros or for a text left out of the answer', async () => {
    endpoint.answer = vectors([0, 0, 0], [1, 0, 0]);
    const found = await embedder().embed(['zeros', 'fine', 'left out']);
    expect(found.map((vector) => vector !== undefined)).toEqual([false, true, false]);
  });

  it.each<[string, Answer, RegExp]>([
    ['a wrong key', refuse(401, `bad key ${SECRET}`), /it answered HTTP 401$/],
    ['a failing endpoint', refuse(500), /it answered HTTP 500$/],
    ['garbage', () => ({ hello: 'world' }), /its answer is no list of vectors$/],
    [
      'values that are no numbers',
      vectors(['a', 'b']),
      /it answered 2 values of which 0 are numbers$/,
    ],
    ['NaN, which JSON writes as null', vectors([1, null, 2]), /it answered 3 values/],
    [
      'no JSON at all',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end('<html>');
        return undefined;
      },
      /its answer cannot be read$/,
    ],
  ])('refuses %s and says so, without the key', async (_case, answer, message) => {
    endpoint.answer = answer;
    const failure = await embedder()
      .embed(['a', 'b'])
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(String(failure)).toMatch(message);
    expect(String(failure)).not.toContain(SECRET);
  });

  describe('a vector of another size', () => {
    /** Whatever is said of texts that begin with `odd`. */
    const oddly =
      (size: number): Answer =>
      ({ body }) => ({
        data: inputOf(body).map((text, index) => ({
          index,
          embedding: text.startsWith('odd') ? Array.from({ length: size }, () => 1) : [1, 1, 0],
        })),
      });
    const sizes = async (one: RemoteEmbedder, ...texts: string[]): Promise<unknown[]> =>
      (await one.embed(texts)).map((vector) => vector?.length);

    it('is dropped for its text only', async () => {
      const one = embedder();
      await one.embed(['first']);
      endpoint.answer = oddly(2);
      expect(await sizes(one, 'a', 'odd', 'b')).toEqual([3, undefined, 3]);
      expect(await sizes(one, 'odd')).toEqual([undefined]);
      expect(await sizes(one, 'c')).toEqual([3]);
    });

    it('for every text means another model, whose size is learned', async () => {
      const one = embedder();
      await one.embed(['first']);
      endpoint.answer = ({ body }) => ({
        data: inputOf(body).map((_text, index) => ({ index, embedding: [1, 2] })),
      });
      await expect(one.embed(['a', 'b'])).rejects.toThrow(
        /it answered 2 values where its vectors have 3 numbers$/,
      );
      expect(await sizes(one, 'a', 'b')).toEqual([2, 2]);
    });
  });

  it('restores another model of the same endpoint only', async () => {
    const settings = { url: `${endpoint.url}/v1`, apiKey: SECRET, model: 'small' };
    const { host } = new URL(endpoint.url);
    await RemoteEmbedder.byId(settings, `${host}/large`)?.embed(['a']);
    expect(endpoint.requests.map(({ body }) => body)).toMatchObject([{ model: 'large' }]);
    expect(RemoteEmbedder.byId(settings, 'elsewhere.example/large')).toBeUndefined();
  });

  it('stops when its caller aborts', async () => {
    endpoint.answer = () => new Promise(() => undefined);
    await expect(embedder().embed(['a'], AbortSignal.timeout(50))).rejects.toThrow(
      /did not answer in time$/,
    );
  });

  it('reports an endpoint that cannot be reached', async () => {
    await expect(embedder('http://127.0.0.1:1/v1').embed(['a'])).rejects.toThrow(
      /it cannot be reached$/,
    );
  });
});
