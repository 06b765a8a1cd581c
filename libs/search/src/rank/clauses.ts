const BOUNDARY =
  /(?<=[.!?;。！？；])\s+|\n+|,?\s+(?:and then|and also|and|then|also|additionally|as well as|or|but)\s+/i;
/** Shorter fragments ("please", "2 eggs") are no intents. */
const MIN_WORDS = 3;
/** Limit: a longer query is a document, whose clauses cost more than they find. */
const MAX_CLAUSES = 12;

/** The intents of a query with several ("find a flight and book a hotel"); empty when it has only one. */
export function clausesOf(query: string): string[] {
  const clauses = query
    .split(BOUNDARY)
    .map((clause) => clause.trim())
    .filter((clause) => clause.split(/\s+/).length >= MIN_WORDS);
  return clauses.length > 1 ? clauses.slice(0, MAX_CLAUSES) : [];
}
