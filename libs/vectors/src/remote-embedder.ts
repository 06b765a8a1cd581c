import { failureReason } from '@app/llm';
import OpenAI from 'openai';
import { z } from 'zod';
import { Embedder } from './embedder.js';
import { normalise } from './vector-math.js';
import { EmbeddingFailed } from './vectors.errors.js';

export interface RemoteEmbedderSettings {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly model: string;
}

const answerSchema = z.object({
  data: z.array(z.object({ index: z.number().int().min(0), embedding: z.array(z.unknown()) })),
});

const TIMEOUT_MS = 15_000;
const MAX_RETRIES = 2;
/** Below the input limits of the hosted endpoints. */
const MAX_TEXTS_PER_REQUEST = 96;
const MAX_TEXT_LENGTH = 8_000;

/** Any endpoint that speaks OpenAI's embeddings API; the dimension is that of its first answer. */
export class RemoteEmbedder extends Embedder {
  readonly modelId: string;
  private readonly client: OpenAI;
  private dimensions: number | undefined;

  constructor(private readonly settings: RemoteEmbedderSettings) {
    super();
    this.modelId = `${new URL(settings.url).host}/${settings.model}`;
    this.client = new OpenAI({
      baseURL: settings.url.replace(/\/embeddings\/?$/, ''),
      // Local endpoints want none, but the SDK insists on a text.
      apiKey: settings.apiKey ?? 'none',
      timeout: TIMEOUT_MS,
      maxRetries: MAX_RETRIES,
    });
  }

  async embed(
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (Float32Array | undefined)[]> {
    const vectors: (Float32Array | undefined)[] = [];
    for (let start = 0; start < texts.length; start += MAX_TEXTS_PER_REQUEST) {
      vectors.push(
        ...(await this.request(texts.slice(start, start + MAX_TEXTS_PER_REQUEST), signal)),
      );
    }
    return vectors;
  }

  private async request(
    texts: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<(Float32Array | undefined)[]> {
    const answer = answerSchema.safeParse(await this.ask(texts, signal));
    if (!answer.success)
      throw new EmbeddingFailed(this.modelId, 'its answer is no list of vectors');
    const vectors = new Array<Float32Array | undefined>(texts.length).fill(undefined);
    for (const { index, embedding } of answer.data.data) {
      if (index < texts.length) vectors[index] = this.toVector(embedding);
    }
    return vectors;
  }

  private async ask(texts: readonly string[], signal: AbortSignal | undefined): Promise<unknown> {
    try {
      return await this.client.embeddings.create(
        {
          model: this.settings.model,
          input: texts.map((text) => text.slice(0, MAX_TEXT_LENGTH)),
          encoding_format: 'float',
        },
        signal ? { signal } : {},
      );
    } catch (error) {
      throw new EmbeddingFailed(this.modelId, failureReason(error), error);
    }
  }

  private toVector(values: readonly unknown[]): Float32Array | undefined {
    const numbers = values.filter((value) => typeof value === 'number');
    this.dimensions ??= numbers.length;
    if (numbers.length !== values.length || numbers.length !== this.dimensions) {
      throw new EmbeddingFailed(
        this.modelId,
        `it answered ${values.length} values where its vectors have ${this.dimensions} numbers`,
      );
    }
    return normalise(Float32Array.from(numbers));
  }
}
