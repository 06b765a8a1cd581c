/**
 * Why a hosted model failed: status and kind only, because the endpoint's message may repeat the API key. Errors
 * are recognised by class name, which both SDKs share, so that no SDK is loaded for it.
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
