/** Where in an answer, and in whose, a passage stood. */
export interface Source {
  readonly server: string;
  readonly tool: string;
  /** Where the text can be read in full, if its server says so. */
  readonly url?: string;
}

/** A part of one server's answer that can be read by itself. */
export interface Passage extends Source {
  readonly text: string;
  /** Counted from 0 in the answer: servers give their best first. */
  readonly position: number;
  /** When the content was written or changed, as its server says; milliseconds since 1970. */
  readonly writtenAt?: number;
  /** When the answer came; milliseconds since 1970. */
  readonly retrievedAt: number;
}

/** A passage before anybody knows whose it is. */
export type Piece = Pick<Passage, 'text' | 'url' | 'writtenAt'>;

export interface ScoredPassage extends Passage {
  /** 0…1. */
  readonly score: number;
}

/** A passage that stands for all that say the same. */
export interface UniquePassage extends ScoredPassage {
  /** Its own first, then those of its duplicates. */
  readonly sources: readonly Source[];
}
