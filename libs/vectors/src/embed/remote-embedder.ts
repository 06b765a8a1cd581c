import { Logger } from '@nestjs/common';
import { bearer, endpointUrl, failureReason, ModelRequests } from '@app/llm';
import { z } from 'zod';
import { Embedder } from './embedder.js';
import { normalise } from '../indexes/vector-math.js';
import { EmbeddingFailed } from '../vectors.errors.js';

export interface RemoteEmbedderSettings {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly model: string;
}

const answerSchema = z.object({
  data: z.array(z.object({ index: z.number().int().min(0), embedding: z.array(z.unknown()) })),
});

const TIMEOUT_MS = 15_000;
const RETRIES = 2;
/** 96 vectors of 12,000 numbers. */
const MAX_ANSWER_BYTES = 32 * 1_048_576;
/** Below the input limits of the hosted endpoints. */
const MAX_TEXTS_PER_REQUEST = 96;
const MAX_TEXT_LENGTH = 8_000;
/** A text for which every working model has a vector. */
const PLAIN_TEXT = 'a tool';

/** Any endpoint with OpenAI's embeddings API; the first answer sets the dimensions. */
export class RemoteEmbedder extends Embedder {
  readonly modelId: string;
  private readonly logger = new Logger(RemoteEmbedder.name);
  private readonly requests: ModelRequests;
  private dimensions: number | undefined;
  private lastDefect: string | undefined;

  constructor(private readonly settings: RemoteEmbedderSettings) {
    super();
    this.modelId = endpointPrefix(settings) + settings.model;
    this.requests = new ModelRequests({
      url: endpointUrl(settings.url, '/embeddings'),
      headers: bearer(settings.apiKey),
      timeoutMs: TIMEOUT_MS,
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
  }

  /** Another model of the same endpoint; undefined if `modelId` belongs to another endpoint. */
  static byId(settings: RemoteEmbedderSettings, modelId: string): RemoteEmbedder | undefined {
    const prefix = endpointPrefix(settings);
    if (!modelId.startsWith(prefix)) return undefined;
    return new RemoteEmbedder({ ...settings, model: modelId.slice(prefix.length) });
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
    const { vectors, defect } = await this.read(texts, signal);
    if (defect === undefined) return vectors;
    if (vectors.every((vector) => vector === undefined))
      await this.refuseChangedModel(defect, signal);
    if (defect !== this.lastDefect) {
      this.logger.warn({ model_id: this.modelId, reason: defect }, 'vectors.text_without_vector');
    }
    this.lastDefect = defect;
    return vectors;
  }

  /** If no vector is usable, checks whether the model has changed or only these texts fail. */
  private async refuseChangedModel(defect: string, signal: AbortSignal | undefined): Promise<void> {
    const { vectors } = await this.read([PLAIN_TEXT], signal);
    if (vectors[0]) return;
    this.dimensions = undefined;
    throw new EmbeddingFailed(this.modelId, defect);
  }

  private async read(
    texts: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<{ vectors: (Float32Array | undefined)[]; defect: string | undefined }> {
    const answer = answerSchema.safeParse(await this.ask(texts, signal));
    if (!answer.success)
      throw new EmbeddingFailed(this.modelId, 'its answer is no list of vectors');
    const vectors = new Array<Float32Array | undefined>(texts.length).fill(undefined);
    let defect: string | undefined;
    for (const { index, embedding } of answer.data.data) {
      const vector = this.toVector(embedding);
      if (typeof vector === 'string') defect = vector;
      else if (index < texts.length) vectors[index] = vector;
    }
    return { vectors, defect };
  }

  private async ask(texts: readonly string[], signal: AbortSignal | undefined): Promise<unknown> {
    try {
      const input = texts.map((text) => text.slice(0, MAX_TEXT_LENGTH));
      const body = { model: this.settings.model, input, encoding_format: 'float' };
      return await this.requests.post(body, z.unknown(), { retries: RETRIES, signal });
    } catch (error) {
      throw new EmbeddingFailed(this.modelId, failureReason(error));
    }
  }

  /** A string says what is wrong with the values. */
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

function endpointPrefix({ url }: Pick<RemoteEmbedderSettings, 'url'>): string {
  return `${new URL(url).host}/`;
}
