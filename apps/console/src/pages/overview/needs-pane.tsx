import type { ServerView } from '@app/api-client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { pendingApprovalsQuery } from '../../api/queries.js';
import { ask } from '../../api/service.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { LinkButton } from '../../ui/link-button.js';
import { Pane } from '../../ui/pane.js';
import { StateMark } from '../../ui/state-mark.js';
import { TimeAgo } from '../../ui/time.js';
import { ServerName } from '../../ui/tool-name.js';
import { stateOfServer } from '../../model/server-state.js';
import { type Need, needsOf } from './needs.js';

function useNeeds(servers: readonly ServerView[]): readonly Need[] {
  const { data: approvals = [] } = useQuery(pendingApprovalsQuery);
  return needsOf(servers, approvals);
}

/** One sentence that says how things are. */
export function Verdict({ servers }: { readonly servers: readonly ServerView[] }) {
  const needs = useNeeds(servers);
  // A server that is switched off is expected not to answer.
  const wanted = servers.filter((server) => stateOfServer(server) !== 'off');
  const connected = wanted.filter(({ status }) => status === 'CONNECTED' || status === 'DEGRADED');
  return (
    <p className="border-line border-b px-5 py-3 text-verdict">
      <strong className="font-semibold">
        {texts.overview.answer(connected.length, wanted.length)}
      </strong>{' '}
      <span className="text-text-2">
        {needs.length === 0 ? texts.overview.nothingNeeded : texts.overview.needed(needs.length)}
      </span>
    </p>
  );
}

export function Needs({ servers }: { readonly servers: readonly ServerView[] }) {
  const needs = useNeeds(servers);
  if (needs.length === 0) return null;
  return (
    <Pane title={texts.overview.needsPerson} aside={needs.length} className="pb-2">
      <ul>
        {needs.map((need, at) => (
          <NeedRow key={need.id} need={need} isFirst={at === 0} />
        ))}
      </ul>
    </Pane>
  );
}

function NeedRow({ need, isFirst }: { readonly need: Need; readonly isFirst: boolean }) {
  return (
    <li className="grid grid-cols-[1fr_auto] items-center gap-x-4 gap-y-0.5 px-5 py-1 nav:grid-cols-[minmax(100px,160px)_200px_1fr_60px_auto]">
      <Link to="/servers/$name" params={{ name: need.server }} className="text-text min-w-0">
        <ServerName name={need.server} />
      </Link>
      <StateMark state={need.state} className="row-start-2 nav:row-start-auto">
        {need.word}
      </StateMark>
      <span
        title={need.reason}
        className="text-text-2 col-span-2 line-clamp-2 text-small [overflow-wrap:anywhere] nav:col-span-1"
      >
        {need.reason}
      </span>
      <span className="text-text-3 text-small nav:row-start-auto">
        <TimeAgo at={need.since} bare />
      </span>
      <span className="col-start-2 row-span-2 row-start-1 nav:col-start-auto nav:row-span-1 nav:row-start-auto nav:justify-self-end">
        <NeedAction need={need} isFirst={isFirst} />
      </span>
    </li>
  );
}

function NeedAction({ need, isFirst }: { readonly need: Need; readonly isFirst: boolean }) {
  const mayAuthorize = useMay('admin');
  const kind = isFirst ? 'primary' : 'plain';
  const authorize = useMutation({
    mutationFn: () => ask((api) => api.authorizeServer({ path: { id: need.server } })),
    onSuccess: ({ authorization_url: url }) => window.open(url, '_blank', 'noopener'),
  });
  if (need.action === 'approvals') {
    return (
      <LinkButton kind={kind} to="/approvals" search={{ server: need.server }}>
        {texts.overview.review}
      </LinkButton>
    );
  }
  if (need.action === 'authorize' && mayAuthorize) {
    return (
      <Button kind={kind} busy={authorize.isPending} onClick={() => authorize.mutate()}>
        {texts.overview.authorize}
      </Button>
    );
  }
  return (
    <LinkButton kind={kind} to="/servers/$name" params={{ name: need.server }}>
      {texts.overview.openTimeline}
    </LinkButton>
  );
}
