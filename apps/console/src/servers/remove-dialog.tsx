import type { ServerView } from '@app/api-client';
import { texts } from '../texts/index.js';
import { ConfirmDialog } from '../ui/dialog.js';
import { ServerName } from '../ui/tool-name.js';

/** Names that are written out; of more the number is told. */
const MAX_NAMES = 20;

interface RemoveDialogProps {
  readonly servers: readonly ServerView[];
  readonly isOpen: boolean;
  readonly busy: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

export function RemoveDialog({ servers, isOpen, busy, onClose, onConfirm }: RemoveDialogProps) {
  const t = texts.servers;
  const tools = servers.reduce((sum, { tool_count: count }) => sum + count, 0);
  const only = servers.length === 1 ? servers[0]?.name : undefined;
  return (
    <ConfirmDialog
      key={String(isOpen)}
      isOpen={isOpen}
      onClose={onClose}
      title={t.removeTitle(only ?? t.number(servers.length))}
      confirmLabel={t.removeConfirm(servers.length)}
      busy={busy}
      onConfirm={onConfirm}
      word={only ?? t.removeWord(servers.length)}
    >
      <p>{t.removeEffect(tools)}</p>
      <p className="border-line bg-inset mt-3 flex flex-wrap gap-x-4 gap-y-1 rounded-2 border px-3 py-2">
        {servers.slice(0, MAX_NAMES).map(({ id, name }) => (
          <ServerName key={id} name={name} />
        ))}
        {servers.length > MAX_NAMES && <span>{t.andMore(servers.length - MAX_NAMES)}</span>}
      </p>
    </ConfirmDialog>
  );
}
