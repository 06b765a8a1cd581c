import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Server } from 'lucide-react';
import type { ServerView } from '@app/api-client';
import { serversQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';
import { Empty, ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { ServerName } from '../../ui/tool-name.js';
import { HealthPane } from './health/health-pane.js';
import { ServerActions } from './server-actions-bar.js';
import { ServerBanner } from './server-banner.js';
import { ServerRail } from './server-rail.js';
import { ServerTabs } from './server-tabs.js';

const t = texts.server;

export function ServerPage() {
  const { name = '' } = useParams({ strict: false }) as { name?: string };
  const { data: servers, error, isError, refetch } = useQuery(serversQuery);
  const server = servers?.find((one) => one.name === name);
  return (
    <>
      <PageHeader title={<Title name={name} />} name={name}>
        {server && <ServerActions server={server} />}
      </PageHeader>
      {server && <ServerContent key={server.id} server={server} />}
      {!server && isError && (
        <ErrorPane title={t.notRead} error={error} onRetry={() => void refetch()} />
      )}
      {!server && !isError && servers === undefined && <SkeletonRows />}
      {!server && servers !== undefined && (
        <Empty icon={Server} title={t.unknown(name)}>
          {t.unknownHint}{' '}
          <Link to="/servers" className="underline">
            {t.allServers}
          </Link>
        </Empty>
      )}
    </>
  );
}

function Title({ name }: { readonly name: string }) {
  return (
    <>
      <Link to="/servers" className="!text-text-2 font-normal no-underline hover:underline">
        {texts.servers.title}
      </Link>
      <span className="text-text-3 font-normal"> / </span>
      <span className="[&>span]:text-title">
        <ServerName name={name} />
      </span>
    </>
  );
}

function ServerContent({ server }: { readonly server: ServerView }) {
  return (
    <div className="flex min-h-full flex-col rail:flex-row">
      <div className="flex min-w-0 grow flex-col">
        <ServerBanner server={server} />
        <HealthPane server={server} />
        <ServerTabs server={server} />
      </div>
      <ServerRail server={server} />
    </div>
  );
}
