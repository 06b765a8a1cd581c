import { useQuery } from '@tanstack/react-query';
import { sessionQuery } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { ClientList } from '../access/client-list.js';

const { connections: t } = texts;

/** Admins are told of everyone's clients, and see them at Access. */
export function OwnClients() {
  const { data: session } = useQuery(sessionQuery);
  return <ClientList lead={t.clientsLead} empty={t.emptyClients} person={session?.name ?? ''} />;
}
