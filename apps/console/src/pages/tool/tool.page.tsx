import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ToolDetailView } from '@app/api-client';
import { SearchX } from 'lucide-react';
import { approvalsQuery } from '../../api/queries.js';
import { Refused } from '../../api/refused.js';
import { stateOfTool } from '../../model/tool-state.js';
import { texts } from '../../texts/index.js';
import { LinkButton } from '../../ui/link-button.js';
import { PageHeader } from '../../ui/page-header.js';
import { Empty, ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { StateMark } from '../../ui/state-mark.js';
import { Tabs } from '../../ui/tabs.js';
import { DefinitionTab } from './definition/definition-tab.js';
import { OverrideTab } from './override/override-tab.js';
import { SkillsTab } from './skills/skills-tab.js';
import { toolQuery } from './tool-queries.js';
import { TryTab } from './try/try-tab.js';
import { UsageTab } from './usage-tab.js';

export function ToolPage() {
  const { name = '' } = useParams({ strict: false });
  const { data: tool, error, refetch } = useQuery(toolQuery(name));
  if (tool) return <Tool tool={tool} />;
  return (
    <>
      <PageHeader title={<Breadcrumb name={name} />} name={name} />
      {!error && <SkeletonRows />}
      {isAbsence(error) ? (
        <UnknownTool name={name} />
      ) : (
        error && (
          <ErrorPane
            title={texts.errors.couldNotBeRead(name)}
            error={error}
            onRetry={() => void refetch()}
          />
        )
      )}
    </>
  );
}

/** Operators are told that a tool is withheld; for others it is not there. */
function isAbsence(error: unknown): boolean {
  return error instanceof Refused && (error.status === 404 || error.code === 'QUARANTINED');
}

/** A withheld tool is not described here, but its approval is. */
function UnknownTool({ name }: { readonly name: string }) {
  const { data: withheld } = useQuery(approvalsQuery);
  const own = withheld?.approvals.find((one) => `${one.server_name}.${one.name}` === name);
  return (
    <Empty
      icon={SearchX}
      title={own ? texts.tool.isWithheld(name) : texts.tool.unknown(name)}
      action={
        <LinkButton to="/approvals" search={{ id: own?.id }}>
          {own ? texts.tool.review : texts.tool.toApprovals}
        </LinkButton>
      }
    >
      {own ? texts.tool.isWithheldHint : texts.tool.unknownHint}
    </Empty>
  );
}

function Breadcrumb({ name }: { readonly name: string }) {
  const dot = name.indexOf('.');
  const server = dot < 0 ? undefined : name.slice(0, dot);
  return (
    <span className="font-normal">
      <Link to="/tools" className="text-text-2 hidden no-underline tab:inline">
        {texts.tool.tools}
      </Link>
      <span className="text-text-3 mx-1.5 hidden tab:inline">/</span>
      {server !== undefined && (
        <>
          <Link to="/servers/$name" params={{ name: server }} className="text-text-2 no-underline">
            {server}
          </Link>
          <span className="text-text-3 mx-1.5">/</span>
        </>
      )}
      <span className="font-mono font-semibold">{name.slice(dot + 1)}</span>
    </span>
  );
}

function Tool({ tool }: { readonly tool: ToolDetailView }) {
  const state = stateOfTool(tool);
  return (
    <div className="flex h-full flex-col">
      <PageHeader title={<Breadcrumb name={tool.name} />} name={tool.name} />
      <Tabs
        label={texts.tool.tabs}
        aside={
          <span className="hidden items-center gap-3 nav:flex">
            <StateMark state={state} />
            <span className="text-text-3 text-small" title={tool.definition_hash}>
              {texts.tool.pinned}{' '}
              <span className="font-mono">{tool.definition_hash.slice(0, 8)}</span>
            </span>
          </span>
        }
        tabs={[
          {
            id: 'definition',
            label: texts.tool.definition,
            content: <DefinitionTab tool={tool} />,
          },
          { id: 'try', label: texts.tool.try, content: <TryTab key={tool.id} tool={tool} /> },
          {
            id: 'overrides',
            label: texts.tool.overrides,
            content: <OverrideTab key={tool.id} tool={tool} />,
          },
          ...(tool.source_server
            ? [
                {
                  id: 'usage',
                  label: texts.tool.usage,
                  content: <UsageTab server={tool.source_server.name} tool={tool.original_name} />,
                },
              ]
            : []),
          {
            id: 'skills',
            label: texts.tool.skills,
            count: tool.skill_ids.length,
            content: <SkillsTab key={tool.id} tool={tool} />,
          },
        ]}
      />
    </div>
  );
}
