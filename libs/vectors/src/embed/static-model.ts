import { installedFolder } from '@app/platform';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { MAX_TEXT_CHARS } from '../text/embedding-text.js';
import { normalise, vectorIn } from '../indexes/vector-math.js';
import { WordRows } from './word-rows.js';
import { WordPieces } from '../text/word-pieces.js';

const metaSchema = z.object({
  dims: z.number().int().positive(),
  vocab: z.number().int().positive(),
  sha256: z.string().length(64),
});

/** Texts whose vectors are remembered, and the length of one: most queries of a few searches at once, few tools. */
const MAX_LAST = 64;
const MAX_LAST_CHARS = 300;

/**
 * The vector of a text is the normalised sum of the rows of its word pieces, which takes microseconds.
 * The layout of the file is described in `model/meta.json`.
 */
export class StaticModel {
  /** A search embeds its query and clauses for the index, for what was learnt and for the fit. */
  private readonly last = new Map<string, Float32Array>();

  private constructor(
    readonly id: string,
    readonly dimensions: number,
    private readonly pieces: WordPieces,
    private readonly rows: WordRows,
  ) {}

  static load(
    folder: string = installedFolder('libs/vectors/model', import.meta.url),
  ): StaticModel {
    const meta = metaSchema.parse(JSON.parse(readFileSync(join(folder, 'meta.json'), 'utf8')));
    const file = readFileSync(join(folder, `static-${meta.dims}-int8.bin`));
    const cells = meta.vocab * meta.dims;
    if (file.byteLength !== cells + meta.vocab * Float32Array.BYTES_PER_ELEMENT) {
      throw new Error(`The embedding model in ${folder} is not the file its meta.json describes`);
    }
    const vocabulary = readFileSync(join(folder, 'vocab.txt'), 'utf8').trimEnd().split('\n');
    return new StaticModel(
      `static-${meta.dims}-${meta.sha256.slice(0, 12)}`,
      meta.dims,
      new WordPieces(vocabulary),
      new WordRows(meta.dims, file.subarray(0, cells), vectorIn(file.subarray(cells))),
    );
  }

  /** Undefined for a text without a known word. The vector is shared: no caller writes to it. */
  embed(text: string): Float32Array | undefined {
    const known = this.last.get(text);
    if (known) return known;
    const vector = normalise(this.rows.sumOf(this.piecesOf(text)));
    if (!vector || text.length > MAX_LAST_CHARS) return vector;
    for (const oldest of this.last.keys()) {
      if (this.last.size < MAX_LAST) break;
      this.last.delete(oldest);
    }
    this.last.set(text, vector);
    return vector;
  }

  /** Words of the vocabulary: English ones, and frequent ones of other languages. */
  words(): Iterable<string> {
    return this.pieces.words();
  }

  /** Ids of word pieces in the BERT-uncased vocabulary, which MiniLM has too. */
  piecesOf(text: string): number[] {
    return this.pieces.encode(text.slice(0, MAX_TEXT_CHARS));
  }
}
