import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { SkillToolView, SkillView } from '@app/api-client';
import { Ban, Pencil } from 'lucide-react';
import { useState } from 'react';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { count, percent } from '../../ui/format.js';
import { ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { SidePanel } from '../../ui/side-panel.js';
import { ToolName } from '../../ui/tool-name.js';
import { SkillForm } from './skill-form.js';
import { skillToolsQuery, useDeactivateSkill } from './skill-queries.js';

interface SkillPanelProps {
  readonly skill: SkillView;
  readonly onClose: () => void;
}

/** One skill and its tools, the surest first. */
export function SkillPanel({ skill, onClose }: SkillPanelProps) {
  const mayDefine = useMay('admin');
  const [isEditing, setEditing] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const deactivate = useDeactivateSkill();
  if (isEditing) {
    return <SkillForm skill={skill} onClose={() => setEditing(false)} />;
  }
  return (
    <SidePanel
      isOpen
      onClose={onClose}
      title={skill.name}
      footer={
        mayDefine ? (
          <>
            <Button kind="danger" icon={Ban} onClick={() => setAsking(true)}>
              {texts.skills.deactivate}
            </Button>
            <Button icon={Pencil} onClick={() => setEditing(true)}>
              {texts.skills.edit}
            </Button>
          </>
        ) : (
          <span className="text-text-2 text-small">{texts.skills.defineNoScope}</span>
        )
      }
    >
      <div className="px-5 py-3">
        <p className="font-mono text-text-3 text-small">{skill.id}</p>
        <p className="[overflow-wrap:anywhere]">{skill.description}</p>
        {skill.prototypes.length > 0 && (
          <>
            <h3 className="mt-3 font-medium">{texts.skills.prototypes}</h3>
            <ul className="text-text-2 list-disc pl-4">
              {skill.prototypes.map((sentence) => (
                <li key={sentence} className="[overflow-wrap:anywhere]">
                  {sentence}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <SkillTools skill={skill} />
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={texts.skills.deactivateTitle(skill.name)}
        confirmLabel={texts.skills.deactivateNow}
        busy={deactivate.isPending}
        onConfirm={() =>
          deactivate.mutate(skill, {
            onSuccess: onClose,
            onSettled: () => setAsking(false),
          })
        }
      >
        {texts.skills.deactivateEffect(skill.tool_count)}
      </ConfirmDialog>
    </SidePanel>
  );
}

function SkillTools({ skill }: { readonly skill: SkillView }) {
  const query = useInfiniteQuery(skillToolsQuery(skill.id));
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const tools = data?.pages.flatMap((page) => page.tools) ?? [];
  return (
    <section>
      <div className="border-line flex h-(--pane-head) items-center gap-2 border-b px-5">
        <h3 className="font-semibold">{texts.skills.toolsOf}</h3>
        <span className="text-text-3 text-small">{count(skill.tool_count)}</span>
        {skill.tool_count > 0 && (
          <Link to="/tools" search={{ skill: skill.id }} className="ml-auto text-small">
            {texts.skills.toolsFilter}
          </Link>
        )}
      </div>
      {error && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(texts.skills.toolsOf)}
          error={error}
          onRetry={() => void refetch()}
        />
      )}
      {!data && !error && <SkeletonRows />}
      {data && tools.length === 0 && <p className="text-text-2 p-5">{texts.skills.noTools}</p>}
      <ul>
        {tools.map((tool) => (
          <ToolLine key={tool.id} tool={tool} />
        ))}
      </ul>
      {hasNextPage && (
        <Button className="m-3" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {texts.common.showMore}
        </Button>
      )}
    </section>
  );
}

function ToolLine({ tool }: { readonly tool: SkillToolView }) {
  return (
    <li className="border-line hover:bg-hover border-b px-5 py-1.5">
      <div className="flex items-center gap-2">
        <Link
          to="/tools/$name"
          params={{ name: tool.name }}
          search={{ tab: 'skills' }}
          className="text-text min-w-0 no-underline"
        >
          <ToolName name={tool.name} />
        </Link>
        {tool.is_primary && <Badge tint="accent">{texts.skills.primary}</Badge>}
        <span className="text-text-2 ml-auto text-small whitespace-nowrap">
          {percent(tool.confidence)}
        </span>
      </div>
      <p className="text-text-2 truncate text-small">{tool.description.split('\n')[0]}</p>
    </li>
  );
}
