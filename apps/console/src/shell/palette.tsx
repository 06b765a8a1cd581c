import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Search, Server, Wrench } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { useEffect, useState } from 'react';
import { serversQuery, toolNamesQuery } from '../api/queries.js';
import { stateOfServer } from '../model/server-state.js';
import { sessionQuery } from '../session/session.js';
import { texts } from '../texts/index.js';
import { ServerName, ToolName } from '../ui/tool-name.js';
import { StateMark } from '../ui/state-mark.js';
import { allPages } from './pages.js';

const opened = new EventTarget();

export function openPalette(): void {
  opened.dispatchEvent(new Event('open'));
}

const item =
  'data-[selected=true]:bg-accent-weak flex h-9 cursor-pointer items-center gap-3 rounded-2 px-3 aria-disabled:opacity-60';

/** Goes to a server, a tool or a page by a part of its name. */
export function Palette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = (): void => setOpen(true);
    opened.addEventListener('open', open);
    return () => opened.removeEventListener('open', open);
  }, []);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Overlay className="bg-shade fixed inset-0 z-40" />
        <Dialog.Content
          aria-describedby={undefined}
          className="bg-raise border-line-2 shadow-float fixed top-[12%] left-1/2 z-50 w-[calc(100%-32px)] max-w-140 -translate-x-1/2 rounded-3 border"
        >
          <Dialog.Title className="sr-only">{texts.nav.palette}</Dialog.Title>
          <PaletteList onDone={() => setOpen(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function PaletteList({ onDone }: { readonly onDone: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const { data: session } = useQuery(sessionQuery);
  const { data: servers = [] } = useQuery(serversQuery);
  const { data: tools = [] } = useQuery(toolNamesQuery(text));
  const wanted = text.trim().toLowerCase();
  const has = (name: string): boolean => name.toLowerCase().includes(wanted);
  const go = (to: string, params: Record<string, string> = {}, search = {}): void => {
    onDone();
    void navigate({ to, params, search });
  };
  return (
    <Command shouldFilter={false} label={texts.nav.palette}>
      <div className="border-line flex items-center gap-3 border-b px-4">
        <Search size={16} aria-hidden className="text-text-3" />
        <Command.Input
          autoFocus
          value={text}
          onValueChange={setText}
          placeholder={texts.nav.palette}
          className="h-11 grow bg-transparent !shadow-none outline-none"
        />
      </div>
      <Command.List className="max-h-100 overflow-auto p-1.5">
        <Command.Empty className="text-text-2 p-4">{texts.nav.paletteEmpty}</Command.Empty>
        {servers
          .filter(({ name }) => wanted !== '' && has(name))
          .slice(0, 6)
          .map((server) => (
            <Command.Item
              key={server.id}
              value={`server ${server.name}`}
              className={item}
              onSelect={() => go('/servers/$name', { name: server.name })}
            >
              <Server size={14} aria-hidden />
              <ServerName name={server.name} />
              <span className="ml-auto">
                <StateMark state={stateOfServer(server)} />
              </span>
            </Command.Item>
          ))}
        {tools.slice(0, 8).map((name) => (
          <Command.Item
            key={name}
            value={`tool ${name}`}
            className={item}
            onSelect={() => go('/tools/$name', { name })}
          >
            <Wrench size={14} aria-hidden />
            <ToolName name={name} />
          </Command.Item>
        ))}
        {allPages
          .filter(({ scope }) => session?.scopes.includes(scope))
          .filter(({ label }) => has(label))
          .map(({ path, label, icon: Icon }) => (
            <Command.Item
              key={path}
              value={`page ${label}`}
              className={item}
              onSelect={() => go(path)}
            >
              <Icon size={14} aria-hidden /> {label}
            </Command.Item>
          ))}
        {wanted !== '' && (
          <Command.Item
            value="search"
            className={item}
            onSelect={() => go('/search', {}, { q: text })}
          >
            <Search size={14} aria-hidden /> {texts.nav.searchFor(text)}
          </Command.Item>
        )}
      </Command.List>
    </Command>
  );
}
