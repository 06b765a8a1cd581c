import { Plug, RefreshCw, ToggleLeft, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ServerView } from '@app/api-client';
import { RemoveDialog } from '../../servers/remove-dialog.js';
import { type ServerAction, useServerAction } from '../../servers/server-actions.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { BulkBar } from '../../ui/bulk-bar.js';
import { Button } from '../../ui/button.js';

interface ServersBulkProps {
  readonly servers: readonly ServerView[];
  readonly onClear: () => void;
}

const t = texts.servers;

/** Actions on the selected servers. */
export function ServersBulk({ servers, onClear }: ServersBulkProps) {
  const [isRemoving, setRemoving] = useState(false);
  const mayDefine = useMay('admin');
  const work = useServerAction();
  const start = (action: ServerAction): void => {
    work.mutate({
      action,
      servers,
      ...(action === 'disconnect' && {
        undo: (done) => work.mutate({ action: 'connect', servers: done }),
      }),
    });
    setRemoving(false);
    onClear();
  };
  const connected = servers.filter(({ status }) => status === 'CONNECTED');
  return (
    <>
      <BulkBar count={servers.length} onClear={onClear}>
        <Button kind="ghost" icon={Plug} onClick={() => start('connect')}>
          {t.actions.connect}
        </Button>
        {connected.length === servers.length && (
          <Button kind="ghost" icon={RefreshCw} onClick={() => start('refresh')}>
            {t.actions.refresh}
          </Button>
        )}
        <Button kind="ghost" icon={ToggleLeft} onClick={() => start('disconnect')}>
          {t.actions.disconnect}
        </Button>
        {mayDefine && (
          <Button
            kind="ghost"
            icon={Trash2}
            className="!text-bad"
            onClick={() => setRemoving(true)}
          >
            {t.actions.remove}
          </Button>
        )}
      </BulkBar>
      <RemoveDialog
        servers={servers}
        isOpen={isRemoving}
        busy={work.isPending}
        onClose={() => setRemoving(false)}
        onConfirm={() => start('remove')}
      />
    </>
  );
}
