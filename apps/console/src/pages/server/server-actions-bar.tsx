import { useNavigate } from '@tanstack/react-router';
import {
  Ellipsis,
  type LucideIcon,
  Pencil,
  Plug,
  RefreshCw,
  RotateCw,
  ToggleLeft,
  Trash2,
} from 'lucide-react';
import { useState } from 'react';
import type { ServerView } from '@app/api-client';
import { RemoveDialog } from '../../servers/remove-dialog.js';
import { type ServerAction, useServerAction } from '../../servers/server-actions.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { Menu, type MenuItem } from '../../ui/menu.js';
import { useAddressState } from '../../ui/tabs.js';

const t = texts.servers;

const icons: Readonly<Record<ServerAction, LucideIcon>> = {
  connect: Plug,
  refresh: RefreshCw,
  reconnect: RotateCw,
  disconnect: ToggleLeft,
  remove: Trash2,
};

/** What may be done with a server in its state, the most likely first. */
function actionsFor({ status }: ServerView): readonly Exclude<ServerAction, 'remove'>[] {
  switch (status) {
    case 'CONNECTED':
    case 'DEGRADED':
      return ['refresh', 'reconnect', 'disconnect'];
    case 'ERROR':
      return ['connect', 'disconnect'];
    case 'CONNECTING':
      return ['disconnect'];
    case 'DISCONNECTED':
    case 'DISCONNECTING':
      return ['connect'];
    default:
      return status satisfies never;
  }
}

/** The first action as a button, all of them in the menu. */
export function ServerActions({ server }: { readonly server: ServerView }) {
  const navigate = useNavigate();
  const [, setTab] = useAddressState('tab', 'tools');
  const [isRemoving, setRemoving] = useState(false);
  const mayOperate = useMay('operate');
  const mayDefine = useMay('admin');
  const work = useServerAction();
  const start = (action: ServerAction): void => work.mutate({ action, servers: [server] });
  const [first, ...others] = mayOperate ? actionsFor(server) : [];
  const items: MenuItem[] = [...(first ? [first] : []), ...others].map((action) => ({
    label: t.actions[action],
    icon: icons[action],
    onSelect: () => start(action),
  }));
  if (mayDefine) {
    items.push(
      { label: t.edit, icon: Pencil, onSelect: () => setTab('settings') },
      {
        label: t.actions.remove,
        icon: Trash2,
        isDangerous: true,
        onSelect: () => setRemoving(true),
      },
    );
  }
  if (items.length === 0) return null;
  const remove = (): void =>
    work.mutate(
      { action: 'remove', servers: [server] },
      {
        onSuccess: ({ failed }) => {
          setRemoving(false);
          if (failed.length === 0) void navigate({ to: '/servers' });
        },
      },
    );
  return (
    <>
      {first && (
        <Button
          icon={icons[first]}
          busy={work.isPending && !isRemoving}
          className="max-tab:hidden"
          onClick={() => start(first)}
        >
          {t.actions[first]}
        </Button>
      )}
      <Menu
        trigger={<Button kind="ghost" icon={Ellipsis} aria-label={t.moreActions} />}
        items={items}
      />
      <RemoveDialog
        servers={[server]}
        isOpen={isRemoving}
        busy={work.isPending}
        onClose={() => setRemoving(false)}
        onConfirm={remove}
      />
    </>
  );
}
