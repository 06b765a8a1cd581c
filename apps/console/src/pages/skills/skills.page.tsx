import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { SkillView } from '@app/api-client';
import { Plus, Shapes } from 'lucide-react';
import { skillsQuery } from '../../api/queries.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { PageHeader } from '../../ui/page-header.js';
import { Empty, ErrorPane, Pane, SkeletonRows } from '../../ui/pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { SkillForm } from './skill-form.js';
import { SkillMap, type Tile } from './skill-map.js';
import { SkillPanel } from './skill-panel.js';
import { classifiedQuery } from './skill-queries.js';
import { Suggestions } from './suggestions.js';

/** Marks the panel of a new skill in the address; no id of a skill begins with it. */
const NEW = '+';
const REST = '-';

export function SkillsPage() {
  const { data: skills, error, refetch } = useQuery(skillsQuery);
  const [selectedId, select] = useAddressState('skill', '');
  const mayDefine = useMay('admin');
  const selected = skills?.find(({ id }) => id === selectedId);
  return (
    <>
      <PageHeader title={texts.skills.title}>
        {mayDefine && (
          <Button icon={Plus} onClick={() => select(NEW)}>
            <span className="sr-only tab:not-sr-only">{texts.skills.add}</span>
          </Button>
        )}
      </PageHeader>
      <div className="flex items-start">
        <div className="min-w-0 grow">
          {error && !skills && (
            <ErrorPane
              title={texts.errors.couldNotBeRead(texts.skills.name)}
              error={error}
              onRetry={() => void refetch()}
            />
          )}
          {!skills && !error && <SkeletonRows />}
          <Suggestions />
          {skills?.length === 0 && (
            <Empty icon={Shapes} title={texts.skills.emptyTitle}>
              {texts.skills.empty}
            </Empty>
          )}
          {skills && skills.length > 0 && (
            <Skills skills={skills} selectedId={selectedId} onSelect={select} />
          )}
        </div>
        {selected && <SkillPanel key={selected.id} skill={selected} onClose={() => select('')} />}
        {selectedId === NEW && mayDefine && <SkillForm onClose={() => select('')} />}
      </div>
    </>
  );
}

interface SkillsProps {
  readonly skills: readonly SkillView[];
  readonly selectedId: string;
  readonly onSelect: (id: string) => void;
}

function Skills({ skills, selectedId, onSelect }: SkillsProps) {
  const navigate = useNavigate();
  const { data: counts } = useQuery(classifiedQuery);
  const used = skills.filter(({ tool_count: tools }) => tools > 0);
  const unused = skills.filter(({ tool_count: tools }) => tools === 0);
  const tiles: Tile[] = used
    .map(({ id, name, tool_count: tools }) => ({ id, name, tools }))
    .toSorted((a, b) => b.tools - a.tools);
  if (counts && counts.unclassified > 0) {
    const { unclassified } = counts;
    tiles.push({ id: REST, name: texts.skills.unclassified, tools: unclassified, isRest: true });
  }
  return (
    <>
      <Pane
        title={texts.skills.map}
        aside={counts && texts.skills.summary(skills.length, counts.classified, counts.total)}
      >
        <p className="text-text-3 mb-3 px-5 text-small">{texts.skills.mapHint}</p>
        <SkillMap
          tiles={tiles}
          selectedId={selectedId}
          onSelect={(id) =>
            id === REST
              ? void navigate({ to: '/tools', search: { skill: 'none' } })
              : onSelect(id === selectedId ? '' : id)
          }
        />
      </Pane>
      {unused.length > 0 && (
        <Pane title={texts.skills.unused} aside={`${unused.length}. ${texts.skills.unusedHint}`}>
          <ul className="flex flex-wrap gap-1.5 px-5 pt-1 pb-4">
            {unused.map(({ id, name }) => (
              <li key={id}>
                <Button small onClick={() => onSelect(id)}>
                  {name}
                </Button>
              </li>
            ))}
          </ul>
        </Pane>
      )}
    </>
  );
}
