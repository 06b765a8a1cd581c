import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { Toaster } from 'sonner';
import { useRefreshOnEvents } from '../live/refresh-on-events.js';
import { sessionEnded } from '../session/session-ended.js';
import { sessionQuery } from '../session/session.js';
import { texts } from '../texts/index.js';
import { ErrorPane } from '../ui/pane.js';
import { Navigation, PhoneNavigation } from './navigation.js';
import { Palette } from './palette.js';
import { usePageKeys } from './page-keys.js';
import { TopBar } from './top-bar.js';

/** What surrounds every page. Without a login it leads to the login page, which leads back to this address. */
export function Shell() {
  const session = useQuery(sessionQuery);
  const { pathname, searchStr } = useLocation();
  if (session.isPending) return null;
  if (session.isError) {
    return (
      <ErrorPane
        title={texts.errors.couldNotBeRead(texts.login.title)}
        error={session.error}
        onRetry={() => void session.refetch()}
      />
    );
  }
  if (session.data === null) return <ToLogin from={pathname + searchStr} />;
  return <Frame />;
}

/** Once, and not the router's `Navigate`: that navigates with every render, until the other page is shown. */
function ToLogin({ from }: { readonly from: string }) {
  const navigate = useNavigate();
  const address = useRef(from);
  useEffect(() => {
    const search = address.current === '/' ? {} : { next: address.current };
    void navigate({ to: '/login', search, replace: true });
  }, [navigate]);
  return null;
}

function Frame() {
  const client = useQueryClient();
  useEffect(
    () => sessionEnded.hear(() => client.setQueryData(sessionQuery.queryKey, null)),
    [client],
  );
  useRefreshOnEvents();
  usePageKeys();
  const { pathname } = useLocation();
  const page = useRef<HTMLElement>(null);
  // The router's own way needs an inline script, which the content security policy forbids.
  // In braces: browsers answer with a promise, which React would take for the way to clean up.
  useLayoutEffect(() => {
    page.current?.scrollTo(0, 0);
  }, [pathname]);
  return (
    <div className="flex h-full flex-col tab:flex-row">
      <a
        href="#page"
        className="bg-page fixed top-0 left-0 z-50 -translate-y-full px-3 py-2 focus:translate-y-0"
      >
        {texts.nav.skip}
      </a>
      <Navigation />
      <div className="flex min-h-0 min-w-0 grow flex-col">
        <TopBar />
        <main
          ref={page}
          id="page"
          tabIndex={-1}
          className="min-h-0 grow overflow-auto !shadow-none"
        >
          <Outlet />
        </main>
      </div>
      <PhoneNavigation />
      <Palette />
      <Toaster
        position="bottom-right"
        toastOptions={{ className: '!bg-raise !text-text !border-line !shadow-float !rounded-3' }}
      />
    </div>
  );
}
