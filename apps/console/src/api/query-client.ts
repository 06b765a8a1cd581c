import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { reasonOf, Refused } from './refused.js';
import { sessionEnded } from '../session/session-ended.js';

/** A request that was refused once is refused again; only a missing answer is worth another try. */
function isWorthAnotherTry(failures: number, error: unknown): boolean {
  return failures < 2 && error instanceof Refused && (error.status === 0 || error.status === 503);
}

function noticeEnd(error: unknown): void {
  if (error instanceof Refused && error.status === 401) sessionEnded.tell();
}

/** Lists are shown from here at once and refreshed without a spinner. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEnd }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _context, mutation) => {
      noticeEnd(error);
      // A page that shows the reason itself says so.
      if (mutation.meta?.['showsError'] !== true) toast.error(reasonOf(error));
    },
  }),
  defaultOptions: {
    queries: { staleTime: 5_000, gcTime: 30 * 60_000, retry: isWorthAnotherTry },
  },
});
