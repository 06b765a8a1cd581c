import { useQuery, useQueryClient } from '@tanstack/react-query';
import { LogOut, Monitor, Moon, Search, Sun } from 'lucide-react';
import { useState } from 'react';
import { useLiveState } from '../live/live-channel.js';
import { logOut, sessionQuery } from '../session/session.js';
import { texts } from '../texts/index.js';
import { chooseTheme, chosenTheme, type Theme } from '../theme.js';
import { Button } from '../ui/button.js';
import { classNames } from '../ui/class-names.js';
import { age } from '../ui/format.js';
import { Kbd } from '../ui/kbd.js';
import { Menu } from '../ui/menu.js';
import { useNow } from '../ui/time.js';
import { openPalette } from './palette.js';

/** The title and the actions come from the page (`PageHeader`). */
export function TopBar() {
  return (
    <header className="border-line flex h-(--topbar) shrink-0 items-center gap-3 border-b px-4 tab:px-5">
      <h1 id="page-title" className="min-w-0 truncate text-title font-semibold" />
      <div className="ml-auto flex items-center gap-3">
        <div id="page-actions" className="flex items-center gap-2" />
        <LiveDot />
        <button
          type="button"
          onClick={openPalette}
          className="text-text-2 hover:bg-hover border-line tab:bg-inset flex h-(--control) items-center gap-2 rounded-2 px-2 tab:border rail:w-64"
        >
          <Search size={14} aria-hidden />
          <span className="sr-only grow text-left rail:not-sr-only">{texts.nav.palette}</span>
          <span className="hidden rail:inline" aria-hidden>
            <Kbd>⌘K</Kbd>
          </span>
        </button>
        <ThemeMenu />
        <AccountMenu />
      </div>
    </header>
  );
}

/** Whether the page hears of what happens; data stays when it does not. */
function LiveDot() {
  const state = useLiveState();
  useNow();
  const [word, look] =
    state.kind === 'live'
      ? [texts.nav.live, 'bg-ok-mark']
      : state.kind === 'connecting'
        ? [texts.nav.liveConnecting, 'bg-idle-mark']
        : [texts.nav.liveLost(age(performance.now() - state.since)), 'bg-warn-mark'];
  return (
    <span
      role="status"
      className="text-text-2 flex items-center gap-1.5 text-small whitespace-nowrap"
    >
      <span aria-hidden className={classNames('size-2 rounded-full', look)} />
      <span className="sr-only tab:not-sr-only">{word}</span>
    </span>
  );
}

function ThemeMenu() {
  const [theme, setTheme] = useState(chosenTheme);
  const choices: readonly (readonly [Theme, string, typeof Sun])[] = [
    ['system', texts.nav.themeSystem, Monitor],
    ['light', texts.nav.themeLight, Sun],
    ['dark', texts.nav.themeDark, Moon],
  ];
  const icon = choices.find(([value]) => value === theme)?.[2] ?? Monitor;
  return (
    <Menu
      trigger={<Button kind="ghost" icon={icon} aria-label={texts.nav.theme} />}
      heading={texts.nav.theme}
      items={choices.map(([value, label, choiceIcon]) => ({
        label,
        icon: choiceIcon,
        isChosen: value === theme,
        onSelect: () => {
          chooseTheme(value);
          setTheme(value);
        },
      }))}
    />
  );
}

function AccountMenu() {
  const client = useQueryClient();
  const { data: session } = useQuery(sessionQuery);
  if (!session) return null;
  const end = async (): Promise<void> => {
    await logOut();
    client.clear();
    client.setQueryData(sessionQuery.queryKey, null);
  };
  return (
    <Menu
      trigger={
        <button
          type="button"
          title={`${texts.nav.account}: ${session.name}`}
          className="bg-idle-weak text-text-2 grid size-6 shrink-0 place-items-center rounded-full text-label font-semibold uppercase"
        >
          <span aria-hidden>{session.name.slice(0, 2)}</span>
          <span className="sr-only">{`${texts.nav.account}: ${session.name}`}</span>
        </button>
      }
      heading={`${texts.nav.loggedInAs(session.name)} · ${session.scopes.at(-1) ?? ''}`}
      items={[{ label: texts.nav.logOut, icon: LogOut, onSelect: () => void end() }]}
    />
  );
}
