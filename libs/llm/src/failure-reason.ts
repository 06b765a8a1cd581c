/**
 * Why a hosted model failed. Status and kind only: an endpoint's own words may repeat the key it was given. Both
 * SDKs name their errors alike, and by name they are told, so that nobody loads an SDK to ask.
 */
export function failureReason(error: unknown): string {
  const kind = error instanceof Error ? error.constructor.name : '';
  if (kind === 'APIConnectionTimeoutError' || kind === 'APIUserAbortError') {
    return 'it did not answer in time';
  }
  if (kind === 'APIConnectionError') return 'it cannot be reached';
  if (error instanceof Error && 'status' in error && typeof error.status === 'number') {
    return `it answered HTTP ${error.status}`;
  }
  return 'its answer cannot be read';
}
