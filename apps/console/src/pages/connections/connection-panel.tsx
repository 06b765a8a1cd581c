import type { ConnectionView } from '@app/api-client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ExternalLink, Unplug } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import { toast } from 'sonner';
import { connectionsQuery } from '../../api/queries.js';
import { reasonOf } from '../../api/refused.js';
import { ask } from '../../api/service.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Button } from '../../ui/button.js';
import { Detail, Details } from '../../ui/details.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { SecretInput } from '../../ui/secret-input.js';
import { SidePanel } from '../../ui/side-panel.js';
import { TimeAgo } from '../../ui/time.js';
import { Expiry } from '../access/expiry.js';

const { connections: t } = texts;

interface ConnectionPanelProps {
  /** Undefined when the server takes no credentials of the person any more. */
  readonly connection: ConnectionView | undefined;
  readonly onClose: () => void;
}

export function ConnectionPanel({ connection, onClose }: ConnectionPanelProps) {
  const mayConnect = useMay('call');
  return (
    <SidePanel
      isOpen
      onClose={onClose}
      title={connection?.server_name ?? t.title}
      footer={
        connection && mayConnect && connection.status !== 'none' ? (
          <Disconnect connection={connection} />
        ) : undefined
      }
    >
      {connection ? (
        <div className="grid gap-4 p-5">
          <p className="text-text-2">{t.hints[connection.status]}</p>
          <Known connection={connection} />
          {!mayConnect && <p className="text-text-2">{t.needsCall}</p>}
          {mayConnect && connection.fields.length > 0 && <Keys connection={connection} />}
          {mayConnect && connection.uses_oauth && <Login connection={connection} />}
        </div>
      ) : (
        <p className="text-text-2 p-5">{t.gone}</p>
      )}
    </SidePanel>
  );
}

function Known({ connection }: { readonly connection: ConnectionView }) {
  const { connected_at: since, expires_at: end, scopes } = connection;
  if (since === null) return null;
  return (
    <div className="-mx-5">
      <Details>
        <Detail label={t.since}>
          <TimeAgo at={since} />
        </Detail>
        {end !== null && (
          <Detail label={t.expires}>
            <Expiry at={end} />
          </Detail>
        )}
        {scopes !== null && (
          <Detail label={texts.access.scopes} mono>
            {scopes}
          </Detail>
        )}
      </Details>
    </div>
  );
}

/** What is typed stays in this form until it is sent, and is never read back. */
function Keys({ connection }: { readonly connection: ConnectionView }) {
  const { server_id: id, server_name: name, fields, status } = connection;
  const form = useId();
  const client = useQueryClient();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const give = useMutation({
    mutationFn: () => ask((api) => api.giveCredentials({ path: { id }, body: { values } })),
    meta: { showsError: true },
    onSuccess: () => {
      setValues({});
      toast.success(t.given(name));
    },
    onSettled: () => client.invalidateQueries({ queryKey: connectionsQuery.queryKey }),
  });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    give.mutate();
  };
  return (
    <form id={form} className="grid gap-3" onSubmit={send}>
      {give.isError && <Banner kind="bad">{reasonOf(give.error)}</Banner>}
      {fields.map((field) => (
        <Field key={field} label={field} mono hint={t.fieldHint}>
          <SecretInput
            required
            value={values[field] ?? ''}
            onChange={({ target: { value } }) => setValues({ ...values, [field]: value })}
          />
        </Field>
      ))}
      <div>
        <Button type="submit" kind="primary" busy={give.isPending}>
          {status === 'connected' ? t.giveAgain : t.give}
        </Button>
      </div>
    </form>
  );
}

function Login({ connection }: { readonly connection: ConnectionView }) {
  const { server_id: id } = connection;
  const link = useMutation({
    mutationFn: () => ask((api) => api.makeConnectLink({ path: { id } })),
    meta: { showsError: true },
  });
  const open = (): void => {
    // Opened by the click itself: a window that is opened after the answer would be blocked.
    const opened = window.open('', '_blank');
    if (opened) opened.opener = null;
    link.mutate(undefined, {
      onSuccess: ({ url }) => (opened ?? window).location.assign(url),
      onError: () => opened?.close(),
    });
  };
  return (
    <div className="grid gap-2">
      {link.isError && <Banner kind="bad">{reasonOf(link.error)}</Banner>}
      <div>
        <Button kind="primary" icon={ExternalLink} busy={link.isPending} onClick={open}>
          {t.logIn}
        </Button>
      </div>
      <p className="text-text-3 text-label">{t.logInHint}</p>
    </div>
  );
}

function Disconnect({ connection }: { readonly connection: ConnectionView }) {
  const { server_id: id, server_name: name } = connection;
  const [asks, setAsks] = useState(false);
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: () => ask((api) => api.endOwnConnection({ path: { id } })),
    onSuccess: () => {
      setAsks(false);
      toast.success(t.disconnected(name));
    },
    onSettled: () => client.invalidateQueries({ queryKey: connectionsQuery.queryKey }),
  });
  return (
    <>
      <Button kind="danger" icon={Unplug} onClick={() => setAsks(true)}>
        {t.disconnect}
      </Button>
      <ConfirmDialog
        isOpen={asks}
        onClose={() => setAsks(false)}
        title={t.disconnectTitle(name)}
        confirmLabel={t.disconnect}
        busy={end.isPending}
        onConfirm={() => end.mutate()}
      >
        {t.disconnectEffect}
      </ConfirmDialog>
    </>
  );
}
