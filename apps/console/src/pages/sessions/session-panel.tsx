import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Unplug } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import type { ClientSessionView } from '@app/api-client';
import { sessionsQuery } from '../../api/queries.js';
import { ask } from '../../api/service.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { Detail, Details } from '../../ui/details.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { count } from '../../ui/format.js';
import { SidePanel } from '../../ui/side-panel.js';
import { TimeAgo } from '../../ui/time.js';
import { nameOfClient } from './sessions-table.js';

const t = texts.sessions;

interface SessionPanelProps {
  /** Undefined once the client is gone. */
  readonly session: ClientSessionView | undefined;
  readonly onClose: () => void;
}

export function SessionPanel({ session, onClose }: SessionPanelProps) {
  const mayEnd = useMay('admin');
  return (
    <SidePanel
      isOpen
      onClose={onClose}
      title={session ? nameOfClient(session) : t.detail.title}
      footer={
        session && canEnd(session) && mayEnd && <EndSession session={session} onEnded={onClose} />
      }
    >
      {session ? (
        <>
          <SessionDetails session={session} />
          {!canEnd(session) && mayEnd && (
            <p className="text-text-2 px-5 text-small">{t.modernNote}</p>
          )}
        </>
      ) : (
        <p className="text-text-2 p-5">{t.detail.gone}</p>
      )}
    </SidePanel>
  );
}

/** A stateless client has only the streams on which it waits for messages. */
function canEnd({ era, streams }: ClientSessionView): boolean {
  return era === 'legacy' || streams > 0;
}

function SessionDetails({ session }: { readonly session: ClientSessionView }) {
  const { detail: d } = t;
  const { caller, capabilities, subscriptions, streams } = session;
  return (
    <div className="pt-4">
      <Details>
        {caller !== null && (
          <Detail label={d.caller} mono>
            {caller}
          </Detail>
        )}
        <Detail label={d.endpoint} mono>
          {session.endpoint}
        </Detail>
        <Detail label={d.view} mono>
          {session.view ?? d.everything}
        </Detail>
        <Detail label={d.protocol}>
          {session.protocol_version}, {session.era === 'legacy' ? d.legacyEra : d.modernEra}
        </Detail>
        <Detail label={d.capabilities}>
          {capabilities.length === 0 ? d.nothing : capabilities.join(', ')}
        </Detail>
        <Detail label={d.calls}>{count(session.calls)}</Detail>
        <Detail label={d.running}>{count(session.running)}</Detail>
        <Detail label={d.subscriptions}>{count(subscriptions)}</Detail>
        <Detail label={d.streams}>{count(streams)}</Detail>
        <Detail label={d.opened}>
          <TimeAgo at={session.opened_at} />
        </Detail>
        <Detail label={d.seen}>
          <TimeAgo at={session.last_seen_at} />
        </Detail>
        <Detail label={d.replica} mono>
          {session.replica}
        </Detail>
      </Details>
      {caller !== null && (
        <p className="px-5 pb-4 text-small">
          <Link to="/activity" search={{ q: caller }}>
            {d.activity}
          </Link>
        </p>
      )}
    </div>
  );
}

interface EndSessionProps {
  readonly session: ClientSessionView;
  readonly onEnded: () => void;
}

function EndSession({ session, onEnded }: EndSessionProps) {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const { queryKey } = sessionsQuery;
  const ending = useMutation({
    mutationFn: () => ask((api) => api.endClientSession({ path: { id: session.id } })),
    onMutate: async () => {
      await client.cancelQueries({ queryKey });
      const before = client.getQueryData(queryKey);
      client.setQueryData(
        queryKey,
        before && { ...before, sessions: before.sessions.filter(({ id }) => id !== session.id) },
      );
      return before;
    },
    onError: (_error, _variables, before) => client.setQueryData(queryKey, before),
    onSuccess: () => {
      toast.success(t.ended(nameOfClient(session)));
      onEnded();
    },
    onSettled: () => client.invalidateQueries({ queryKey }),
  });
  return (
    <>
      <Button kind="danger" icon={Unplug} onClick={() => setAsking(true)}>
        {t.end}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t.endTitle(nameOfClient(session))}
        confirmLabel={t.endConfirm}
        busy={ending.isPending}
        onConfirm={() => ending.mutate()}
      >
        {t.endEffect(session.running)}
      </ConfirmDialog>
    </>
  );
}
