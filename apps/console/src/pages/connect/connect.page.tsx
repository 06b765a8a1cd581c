import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { texts } from '../../texts/index.js';
import { CodeBlock } from '../../ui/code-block.js';
import { PageHeader } from '../../ui/page-header.js';
import { ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { ClientTabs } from './client-tabs.js';
import { endpoints, PLACEHOLDER, snippetsQuery } from './snippets.js';
import { SeenClients } from './seen-clients.js';
import { TokenStep } from './token-step.js';
import { WhatItSees } from './what-it-sees.js';

const t = texts.connect;

/** What the client sees, its token, the snippet to paste, and that it worked. */
export function ConnectPage() {
  const [chosen, setEndpoint] = useAddressState('endpoint', 'all');
  const endpoint = endpoints.find((one) => one === chosen) ?? 'all';
  const [view, setView] = useAddressState('view', '');
  const [token, setToken] = useState(PLACEHOLDER);
  const { data, error, isError, refetch } = useQuery({
    ...snippetsQuery(endpoint, view),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <PageHeader title={t.title} />
      <div className="max-w-220 py-2">
        <Step number={1} title={t.sees.title}>
          <WhatItSees endpoint={endpoint} onEndpoint={setEndpoint} view={view} onView={setView} />
          {data && <CodeBlock code={data.url} className="mt-3" />}
        </Step>
        <Step number={2} title={t.token.title}>
          <TokenStep key={view} view={view} onToken={setToken} />
        </Step>
        <Step number={3} title={t.client.title}>
          {isError && <ErrorPane title={t.notRead} error={error} onRetry={() => void refetch()} />}
          {!data && !isError && <SkeletonRows />}
          {data && <ClientTabs clients={data.clients} url={data.url} token={token} />}
        </Step>
        <Step number={4} title={t.seen.title}>
          <SeenClients />
        </Step>
      </div>
    </>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly children: React.ReactNode;
}

function Step({ number, title, children }: StepProps) {
  return (
    <section className="flex gap-3 px-5 py-4">
      <span
        aria-hidden
        className="bg-accent text-on-accent grid size-5 shrink-0 place-items-center rounded-full text-label font-semibold"
      >
        {number}
      </span>
      <div className="min-w-0 grow">
        <h2 className="mb-2 font-semibold">{title}</h2>
        {children}
      </div>
    </section>
  );
}
