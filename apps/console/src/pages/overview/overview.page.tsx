import { useQuery } from '@tanstack/react-query';
import { serversQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { LinkButton } from '../../ui/link-button.js';
import { PageHeader } from '../../ui/page-header.js';
import { ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { CallCharts } from '../../stats/call-charts.js';
import { FirstSteps } from './first-steps.js';
import { Needs, Verdict } from './needs-pane.js';
import { NowRail } from './now-rail.js';
import { ServersPane } from './servers-pane.js';
import { TroubledTools } from './troubled-tools.js';

/** What needs a person, why, and what to press; charts explain it. */
export function OverviewPage() {
  const servers = useQuery(serversQuery);
  return (
    <>
      <PageHeader title={texts.overview.title} />
      <div className="flex min-h-full items-stretch">
        <div className="min-w-0 grow">
          {servers.isError && !servers.data && (
            <ErrorPane
              title={texts.errors.couldNotBeRead(texts.overview.servers)}
              error={servers.error}
              onRetry={() => void servers.refetch()}
            />
          )}
          {servers.isPending && <SkeletonRows />}
          {servers.data?.length === 0 && <FirstSteps />}
          {servers.data !== undefined && servers.data.length > 0 && (
            <>
              <Verdict servers={servers.data} />
              <Needs servers={servers.data} />
              <CallCharts empty={<LinkButton to="/tools">{texts.overview.tryTool}</LinkButton>} />
              <div className="rail:grid rail:grid-cols-2">
                <ServersPane servers={servers.data} />
                <TroubledTools />
              </div>
            </>
          )}
        </div>
        <NowRail />
      </div>
    </>
  );
}
