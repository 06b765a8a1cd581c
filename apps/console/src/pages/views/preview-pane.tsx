import type { RuledToolView, RulesPreviewView, ViewRuleDto } from '@app/api-client';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { CircleCheck, CirclePause, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { grantsQuery, tokensQuery } from '../../api/queries.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Button } from '../../ui/button.js';
import { classNames } from '../../ui/class-names.js';
import { FilterInput, Select } from '../../ui/field.js';
import { count } from '../../ui/format.js';
import { ErrorPane, Pane, SkeletonRows } from '../../ui/pane.js';
import { subjectsOf } from '../../ui/policy/subjects.js';
import { Segmented } from '../../ui/segmented.js';
import { useAddressState } from '../../ui/tabs.js';
import { ToolName } from '../../ui/tool-name.js';
import { levelQuery, previewQuery, type ToolState } from './view-queries.js';

const { views: t } = texts;
const FIRST = 40;
const MOST = 500;
const states = ['offered', 'held', 'left_out'] as const;

interface PreviewPaneProps {
  readonly slug: string;
  readonly rules: readonly ViewRuleDto[];
}

/** What the rules as they are edited do to each tool, for every caller or for one subject. */
export function PreviewPane({ slug, rules }: PreviewPaneProps) {
  const [as, setAs] = useAddressState('as-subject', '');
  const [chosen, setChosen] = useAddressState('state', 'all');
  const [text, setText] = useAddressState('find', '');
  const [limit, setLimit] = useState(FIRST);
  const { data: level } = useQuery(levelQuery(slug, as));
  const state = states.find((one) => one === chosen);
  const preview = useQuery(
    previewQuery({
      view: slug,
      rules,
      limit,
      ...(state && { state }),
      ...(text !== '' && { text }),
      ...(level && { level }),
    }),
  );
  const { data } = preview;
  const isRefused = as !== '' && level === null;
  const all = data ? data.offered + data.held + data.left_out : 0;
  return (
    <Pane
      title={<label htmlFor="preview-as">{t.preview}</label>}
      actions={
        data && (
          <span className="text-text-2 text-small">
            {t.ofAll(isRefused ? 0 : data.offered + data.held, all)}
          </span>
        )
      }
      className="rail:border-b-0"
    >
      <div className="grid gap-2 px-5 pt-1 pb-3">
        <SubjectSelect value={as} onChange={setAs} />
        {isRefused && <Banner kind="warn">{t.noGrantFor(as)}</Banner>}
        {data && (
          <div>
            <StateChoice value={state ?? 'all'} counts={{ all, ...data }} onChange={setChosen} />
          </div>
        )}
        <FilterInput
          label={t.findTool}
          value={text}
          className="max-w-none"
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <ToolRows preview={preview} isRefused={isRefused} />
      {data && data.total > data.tools.length && limit < MOST && (
        <Button className="m-3" busy={preview.isFetching} onClick={() => setLimit(MOST)}>
          {t.more(data.total - data.tools.length)}
        </Button>
      )}
    </Pane>
  );
}

interface ToolRowsProps {
  readonly preview: UseQueryResult<RulesPreviewView>;
  readonly isRefused: boolean;
}

function ToolRows({ preview, isRefused }: ToolRowsProps) {
  const { data } = preview;
  if (preview.isPending) return <SkeletonRows />;
  return (
    <>
      {preview.isError && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(t.previewFailed)}
          error={preview.error}
          onRetry={() => void preview.refetch()}
        />
      )}
      <ul className="border-line border-t">
        {data?.tools.map((tool) => (
          <PreviewRow key={tool.id} tool={tool} isRefused={isRefused} />
        ))}
      </ul>
      {data?.total === 0 && <p className="text-text-2 px-5 py-3">{t.previewEmpty}</p>}
    </>
  );
}

interface SubjectSelectProps {
  readonly value: string;
  readonly onChange: (subject: string) => void;
}

function SubjectSelect({ value, onChange }: SubjectSelectProps) {
  const seesTokens = useMay('admin');
  const { data: grants = [] } = useQuery(grantsQuery);
  const { data: tokens = [] } = useQuery({ ...tokensQuery, enabled: seesTokens });
  const subjects = subjectsOf(grants, tokens);
  return (
    <Select id="preview-as" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{t.everyCaller}</option>
      {value !== '' && !subjects.includes(value) && <option value={value}>{value}</option>}
      {subjects.map((subject) => (
        <option key={subject} value={subject}>
          {subject}
        </option>
      ))}
    </Select>
  );
}

interface StateChoiceProps {
  readonly value: ToolState | 'all';
  readonly counts: Readonly<Record<ToolState | 'all', number>>;
  readonly onChange: (state: ToolState | 'all') => void;
}

function StateChoice({ value, counts, onChange }: StateChoiceProps) {
  return (
    <Segmented
      label={t.previewFailed}
      value={value}
      options={(['all', ...states] as const).map((state) => ({
        value: state,
        label: state === 'all' ? t.states.all : `${t.states[state]} ${count(counts[state])}`,
      }))}
      onChange={onChange}
    />
  );
}

const marks = {
  offered: { icon: CircleCheck, look: 'text-ok', word: t.offeredMark },
  held: { icon: CirclePause, look: 'text-warn', word: t.heldMark },
  left_out: { icon: EyeOff, look: 'text-text-3', word: t.outMark },
} as const;

interface PreviewRowProps {
  readonly tool: RuledToolView;
  readonly isRefused: boolean;
}

function PreviewRow({ tool, isRefused }: PreviewRowProps) {
  const [, setExplained] = useAddressState('tool', '');
  const { icon: Icon, look, word } = marks[isRefused ? 'left_out' : tool.state];
  const byRule = tool.rule === null ? t.reasons.no_rule : t.byRule(tool.rule + 1);
  const why = tool.reason === 'rule' ? byRule : t.reasons[tool.reason];
  const name = `${tool.server}.${tool.original_name}`;
  return (
    <li className="border-line border-b">
      <button
        type="button"
        title={t.explainRow(name)}
        onClick={() => setExplained(name)}
        className="hover:bg-hover flex min-h-8 w-full items-center gap-2 px-5 py-1 text-left"
      >
        <Icon size={14} className={classNames('shrink-0', look)} aria-label={word} />
        <span className={classNames('min-w-0 grow', tool.state === 'left_out' && 'text-text-2')}>
          <ToolName name={tool.name} />
        </span>
        <span
          className={classNames(
            'text-small whitespace-nowrap',
            tool.state === 'held' ? 'text-warn' : 'text-text-2',
          )}
        >
          {why}
        </span>
      </button>
    </li>
  );
}
