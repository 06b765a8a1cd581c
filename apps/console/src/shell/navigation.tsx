import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Menu as MenuIcon } from 'lucide-react';
import { useState } from 'react';
import { stateQuery, withheldCountQuery } from '../api/queries.js';
import { sessionQuery } from '../session/session.js';
import { texts } from '../texts/index.js';
import { classNames } from '../ui/class-names.js';
import { CopyButton } from '../ui/copy-button.js';
import { Drawer } from '../ui/dialog.js';
import { count } from '../ui/format.js';
import { Logo } from '../ui/logo.js';
import { allPages, pageGroups, type PageLink, phonePages } from './pages.js';

function useAllowedPages(): ReadonlySet<string> {
  const { data: session } = useQuery(sessionQuery);
  const scopes = session?.scopes ?? [];
  return new Set(allPages.filter(({ scope }) => scopes.includes(scope)).map(({ path }) => path));
}

/** Numbers beside the names of pages. */
function useCounts(): Readonly<
  Record<string, { readonly text: string; readonly isUrgent?: boolean }>
> {
  const { data: state } = useQuery(stateQuery);
  const { data: withheld = 0 } = useQuery(withheldCountQuery);
  return {
    ...(state && {
      '/servers': { text: count(state.total_servers) },
      '/tools': { text: count(state.total_tools) },
    }),
    ...(withheld > 0 && { '/approvals': { text: count(withheld), isUrgent: true } }),
  };
}

function PageEntry({ page, onOpen }: { readonly page: PageLink; readonly onOpen?: () => void }) {
  const counts = useCounts();
  const { path, label, icon: Icon } = page;
  const number = counts[path];
  return (
    <Link
      to={path}
      {...(onOpen && { onClick: onOpen })}
      activeOptions={{ exact: path === '/', includeSearch: false }}
      title={label}
      className="hover:bg-hover text-text-2 data-[status=active]:bg-press data-[status=active]:text-text flex h-(--control) items-center gap-2.5 rounded-2 px-2 data-[status=active]:font-medium"
    >
      <Icon size={15} aria-hidden className="shrink-0" />
      <span className={classNames('grow', !onOpen && 'hidden nav:inline')}>{label}</span>
      {number && (
        <span
          className={classNames(
            'text-label',
            !onOpen && 'hidden nav:inline',
            number.isUrgent
              ? 'bg-warn-weak text-warn rounded-full px-1.5 font-medium'
              : 'text-text-3',
          )}
        >
          {number.text}
        </span>
      )}
    </Link>
  );
}

function Groups({ onOpen }: { readonly onOpen?: () => void }) {
  const allowed = useAllowedPages();
  return pageGroups.map(({ heading, pages }) => {
    const shown = pages.filter(({ path }) => allowed.has(path));
    if (shown.length === 0) return null;
    return (
      <div key={heading ?? ''} className="mb-2">
        {heading !== undefined && (
          <p
            className={classNames(
              'text-text-3 px-2 pt-1 pb-0.5 text-label',
              !onOpen && 'hidden nav:block',
            )}
          >
            {heading}
          </p>
        )}
        {shown.map((page) => (
          <PageEntry key={page.path} page={page} {...(onOpen && { onOpen })} />
        ))}
      </div>
    );
  });
}

/** At the left; icons only below 900 px. */
export function Navigation() {
  return (
    <nav
      aria-label={texts.nav.main}
      className="bg-shell border-line hidden w-12 shrink-0 flex-col border-r tab:flex nav:w-(--nav)"
    >
      <div className="flex h-(--topbar) shrink-0 items-center gap-2 px-3.5 font-semibold">
        <Logo /> <span className="hidden nav:inline">{texts.common.product}</span>
      </div>
      <div className="min-h-0 grow overflow-y-auto px-2">
        <Groups />
      </div>
      <ServiceLine />
    </nav>
  );
}

function ServiceLine() {
  const { data: state } = useQuery(stateQuery);
  const address = `${window.location.host}/mcp`;
  return (
    <div className="border-line hidden border-t px-3.5 py-2 nav:block">
      <div className="flex items-center justify-between gap-1">
        <span className="truncate font-mono text-label" title={texts.nav.endpoint}>
          {address}
        </span>
        <CopyButton text={`${window.location.protocol}//${address}`} />
      </div>
      {state && (
        <p className="text-text-3 text-label">
          {texts.nav.serversConnected(state.connected_servers, state.total_servers)}
        </p>
      )}
    </div>
  );
}

/** At the bottom of a narrow screen. */
export function PhoneNavigation() {
  const [isOpen, setOpen] = useState(false);
  const allowed = useAllowedPages();
  const counts = useCounts();
  const look =
    'data-[status=active]:text-accent text-text-2 relative flex h-14 grow basis-0 flex-col items-center justify-center gap-0.5 text-label';
  return (
    <nav
      aria-label={texts.nav.main}
      className="bg-shell border-line flex shrink-0 border-t tab:hidden"
    >
      {allPages
        .filter(({ path }) => phonePages.includes(path) && allowed.has(path))
        .map(({ path, label, icon: Icon }) => (
          <Link
            key={path}
            to={path}
            activeOptions={{ exact: path === '/', includeSearch: false }}
            className={look}
          >
            <Icon size={20} aria-hidden />
            {label}
            {counts[path]?.isUrgent && (
              <span className="bg-warn-weak text-warn absolute top-1 ml-8 rounded-full px-1.5">
                {counts[path].text}
              </span>
            )}
          </Link>
        ))}
      <button type="button" className={look} onClick={() => setOpen(true)}>
        <MenuIcon size={20} aria-hidden />
        {texts.nav.more}
      </button>
      <Drawer isOpen={isOpen} onClose={() => setOpen(false)} title={texts.common.product}>
        <div className="p-3">
          <Groups onOpen={() => setOpen(false)} />
        </div>
      </Drawer>
    </nav>
  );
}
