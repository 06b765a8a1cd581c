import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ToolDetailView } from '@app/api-client';
import { Check, Minus } from 'lucide-react';
import type { ReactNode } from 'react';
import { stateOfTool } from '../../../model/tool-state.js';
import { useMay } from '../../../session/session.js';
import { texts } from '../../../texts/index.js';
import { Effects } from '../../../ui/effects.js';
import { StateMark } from '../../../ui/state-mark.js';
import { TimeAgo } from '../../../ui/time.js';
import { ServerName } from '../../../ui/tool-name.js';
import { viewsOfToolQuery } from '../tool-queries.js';

export function ToolFacts({ tool }: { readonly tool: ToolDetailView }) {
  const { source_server: server, annotations } = tool;
  return (
    <>
      <dl className="border-line border-b py-2">
        {server && (
          <Fact name={texts.tool.server}>
            <Link to="/servers/$name" params={{ name: server.name }} className="no-underline">
              <ServerName name={server.name} />
            </Link>{' '}
            <StateMark state={stateOfTool(tool)} className="text-small" />
          </Fact>
        )}
        <Fact name={texts.tool.tokensLabel}>{texts.tool.tokens(tool.definition_tokens)}</Fact>
        <Fact name={texts.tool.discovered}>
          <TimeAgo at={tool.discovered_at} />
        </Fact>
        <Fact name={texts.tool.pinned}>
          <span className="font-mono text-small [overflow-wrap:anywhere]">
            {tool.definition_hash.slice(0, 16)}
          </span>
        </Fact>
      </dl>
      <Section title={texts.tool.annotations}>
        {Object.keys(annotations).length === 0 ? (
          <p className="text-text-2">{texts.tool.noAnnotations}</p>
        ) : (
          <>
            <Effects annotations={annotations} />
            <p className="text-text-3 mt-2 text-small">{texts.tool.annotationsHint}</p>
          </>
        )}
      </Section>
      <Section title={texts.tool.views}>
        <Views toolId={tool.id} />
      </Section>
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-3 px-5 py-1">
      <dt className="text-text-2 text-small">{name}</dt>
      <dd className="min-w-0 text-right">{children}</dd>
    </div>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="border-line border-b px-5 pt-2 pb-3">
      <h2 className="mb-2 font-semibold">{title}</h2>
      {children}
    </section>
  );
}

function Views({ toolId }: { readonly toolId: string }) {
  const mayRead = useMay('admin');
  const { data: views = [] } = useQuery({ ...viewsOfToolQuery(toolId), enabled: mayRead });
  if (!mayRead) return <p className="text-text-2">{texts.tool.noViewRight}</p>;
  return (
    <ul className="flex flex-col gap-1">
      {views.map(({ slug, title, isOffered }) => (
        <li key={slug} className="flex items-baseline gap-2">
          <Link to="/views/$slug" params={{ slug }} className="font-mono text-small no-underline">
            {slug}
          </Link>
          <span className="text-text-3 min-w-0 truncate text-small">{title}</span>
          <span className="ml-auto flex items-center gap-1 text-small whitespace-nowrap">
            {isOffered ? (
              <Check size={14} aria-hidden className="text-ok" />
            ) : (
              <Minus size={14} aria-hidden className="text-text-3" />
            )}
            {isOffered ? texts.tool.inView : texts.tool.notInView}
          </span>
        </li>
      ))}
    </ul>
  );
}
