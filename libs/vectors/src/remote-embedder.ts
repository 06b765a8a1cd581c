import { Logger } from '@nestjs/common';
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
/** Every model has a vector for it. */
const PLAIN_TEXT = 'a tool';

/** Any endpoint that speaks OpenAI's embeddings API; the dimension is that of its first answer. */
export class RemoteEmbedder extends Embedder {
  readonly modelId: string;
  private readonly logger = new Logger(RemoteEmbedder.name);
  private readonly client: OpenAI;
  private dimensions: number | undefined;
  private lastOddity: string | undefined;

  constructor(private readonly settings: RemoteEmbedderSettings) {
    super();
    this.modelId = placeOf(settings) + settings.model;
    this.client = new OpenAI({
      baseURL: settings.url.replace(/\/embeddings\/?$/, ''),
      // Local endpoints want none, but the SDK insists on a text.
      apiKey: settings.apiKey ?? 'none',
      timeout: TIMEOUT_MS,
      maxRetries: MAX_RETRIES,
    });
  }

  /** Another model at the same endpoint; undefined for one that was asked elsewhere. */
  static byId(settings: RemoteEmbedderSettings, modelId: string): RemoteEmbedder | undefined {
    const place = placeOf(settings);
    if (!modelId.startsWith(place)) return undefined;
    return new RemoteEmbedder({ ...settings, model: modelId.slice(place.length) });
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
    const { vectors, oddity } = await this.read(texts, signal);
    if (oddity === undefined) return vectors;
    if (vectors.every((vector) => vector === undefined)) await this.refuseAnother(oddity, signal);
    if (oddity !== this.lastOddity) {
      this.logger.warn(`${this.modelId} gave no usable vector for a text: ${oddity}`);
    }
    this.lastOddity = oddity;
    return vectors;
  }

  /** Nothing but odd vectors: bad luck with these texts, or the model is not the one it was. */
  private async refuseAnother(oddity: string, signal: AbortSignal | undefined): Promise<void> {
    const { vectors } = await this.read([PLAIN_TEXT], signal);
    if (vectors[0]) return;
    this.dimensions = undefined;
    throw new EmbeddingFailed(this.modelId, oddity);
  }

  private async read(
    texts: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<{ vectors: (Float32Array | undefined)[]; oddity: string | undefined }> {
    const answer = answerSchema.safeParse(await this.ask(texts, signal));
    if (!answer.success)
      throw new EmbeddingFailed(this.modelId, 'its answer is no list of vectors');
    const vectors = new Array<Float32Array | undefined>(texts.length).fill(undefined);
    let oddity: string | undefined;
    for (const { index, embedding } of answer.data.data) {
      const vector = this.toVector(embedding);
      if (typeof vector === 'string') oddity = vector;
      else if (index < texts.length) vectors[index] = vector;
    }
    return { vectors, oddity };
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

  /** Or what is wrong with it. */
  private toVector(values: readonly unknown[]): Float32Array | undefined | string {
    const numbers = values.filter((value) => typeof value === 'number');
    if (numbers.length !== values.length || numbers.length === 0) {
      return `it answered ${values.length} values of which ${numbers.length} are numbers`;
    }
    this.dimensions ??= numbers.length;
    if (numbers.length !== this.dimensions) {
      return `it answered ${values.length} values where its vectors have ${this.dimensions} numbers`;
    }
    return normalise(Float32Array.from(numbers));
  }
}

function placeOf({ url }: Pick<RemoteEmbedderSettings, 'url'>): string {
  return `${new URL(url).host}/`;
}
