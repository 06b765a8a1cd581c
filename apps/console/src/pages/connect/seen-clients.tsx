import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sessionsQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { StateMark } from '../../ui/state-mark.js';
import { TimeAgo } from '../../ui/time.js';

const t = texts.connect.seen;
const SHOWN = 3;

/** The clients that were seen last: the proof that the snippet works. */
export function SeenClients() {
  const { data } = useQuery(sessionsQuery);
  const seen = (data?.sessions ?? []).slice(0, SHOWN);
  if (seen.length === 0) return <p className="text-text-2 text-small">{t.none}</p>;
  return (
    <>
      <ul aria-label={t.latest}>
        {seen.map((session) => (
          <li key={session.id} className="flex min-h-7 flex-wrap items-center gap-x-4">
            <StateMark state="ready">
              <span className="font-mono text-small">
                {session.client_name ?? texts.sessions.unnamed} {session.client_version}
              </span>
            </StateMark>
            <span className="text-text-2 text-small">
              <TimeAgo at={session.last_seen_at} />, {t.calls(session.calls)}
            </span>
          </li>
        ))}
      </ul>
      <Link to="/sessions" className="text-small">
        {t.all}
      </Link>
    </>
  );
}
