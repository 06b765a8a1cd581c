/** Where a passage comes from. */
export interface Source {
  readonly server: string;
  readonly tool: string;
  /** Link to the full text, if the server gave one. */
  readonly url?: string;
}

/** A part of one server's answer that is ranked by itself. */
export interface Passage extends Source {
  readonly text: string;
  /** Index in the answer; servers usually put the best first. */
  readonly position: number;
  /** When the content was last changed, according to the server; milliseconds since 1970. */
  readonly writtenAt?: number;
  /** When the answer was received; milliseconds since 1970. */
  readonly retrievedAt: number;
}

/** A passage without its source. */
export type Piece = Pick<Passage, 'text' | 'url' | 'writtenAt'>;

/** Generated lazily; undefined ends a slice of work that produced no piece. */
export type Pieces = Generator<Piece | undefined, void, undefined>;

export interface ScoredPassage extends Passage {
  /** 0…1. */
  readonly score: number;
}

/** A passage with the sources of all its duplicates. */
export interface UniquePassage extends ScoredPassage {
  /** Its own source first. */
  readonly sources: readonly Source[];
  /** What was folded into it. */
  readonly duplicates: readonly Passage[];
}
