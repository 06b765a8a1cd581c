export interface RoomLimits {
  readonly total: number;
  /** Of one principal (contract R52). */
  readonly perOwner: number;
}

/** Rows are not free: a small result counts as much as a page of the largest. */
const MIN_COUNTED = 65_536;

export function countedBytes(bytes: number): number {
  return Math.max(MIN_COUNTED, bytes);
}

/**
 * Whose oldest result has to go before one more of that size is kept: the owner's own if they exceed their part, else
 * that of the principal with the most. Undefined when there is room; `full` when there cannot be any.
 */
export function whoseGoes(
  kept: ReadonlyMap<string, number>,
  owner: string,
  bytes: number,
  { total, perOwner }: RoomLimits,
): { readonly owner: string } | 'full' | undefined {
  if (bytes > perOwner) return 'full';
  const own = kept.get(owner) ?? 0;
  if (own + bytes > perOwner) return { owner };
  let sum = bytes;
  let most = owner;
  let mostBytes = own + bytes;
  for (const [name, held] of kept) {
    sum += held;
    if (name !== owner && held > mostBytes) [most, mostBytes] = [name, held];
  }
  if (sum <= total) return undefined;
  return most === owner && own === 0 ? 'full' : { owner: most };
}
