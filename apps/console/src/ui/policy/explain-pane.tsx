import type { ExplanationView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { Ban, CircleCheck, Eye } from 'lucide-react';
import { useId } from 'react';
import { grantsQuery, tokensQuery, viewsQuery } from '../../api/queries.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../banner.js';
import { Input, Select } from '../field.js';
import { ErrorPane, Pane, SkeletonRows } from '../pane.js';
import { useAddressState } from '../tabs.js';
import { explainQuery, toolNamesQuery } from './explain-query.js';
import { GateList } from './gate-list.js';
import { subjectsOf } from './subjects.js';

const { policy: t } = texts;

interface ExplainPaneProps {
  /** Of a page that shows one view; else it is chosen here. */
  readonly view?: string;
}

/** Subject × view × tool: what decided, and every step on the way. The question is part of the address. */
export function ExplainPane({ view: given }: ExplainPaneProps) {
  const [subject, setSubject] = useAddressState('subject', '');
  const [chosen, setChosen] = useAddressState('view', 'default');
  const [tool, setTool] = useAddressState('tool', '');
  const view = given ?? chosen;
  const seesTokens = useMay('admin');
  const { data: views = [] } = useQuery(viewsQuery);
  const { data: grants = [] } = useQuery(grantsQuery);
  const { data: tokens = [] } = useQuery({ ...tokensQuery, enabled: seesTokens });
  const { data: tools = [], isPlaceholderData } = useQuery(toolNamesQuery(tool));
  const subjects = useId();
  const names = useId();
  return (
    <Pane title={t.why}>
      <div className="flex flex-wrap items-center gap-2 px-5 pb-3">
        <span className="text-text-2">{t.whyCan}</span>
        <span className="w-44">
          <Input
            mono
            aria-label={t.subjectLabel}
            placeholder="token:…"
            title={t.subjectHint}
            list={subjects}
            value={subject}
            onChange={(event) => setSubject(event.target.value)}
          />
        </span>
        <span className="text-text-2">{t.whyCall}</span>
        <span className="w-64">
          <Input
            mono
            aria-label={t.toolLabel}
            placeholder={t.toolPlaceholder}
            list={names}
            value={tool}
            onChange={(event) => setTool(event.target.value)}
          />
        </span>
        {given === undefined && (
          <>
            <span className="text-text-2">{t.whyOn}</span>
            <span className="w-40">
              <Select
                aria-label={t.view}
                value={view}
                onChange={(event) => setChosen(event.target.value)}
              >
                {views.map(({ slug }) => (
                  <option key={slug}>{slug}</option>
                ))}
              </Select>
            </span>
          </>
        )}
      </div>
      <datalist id={subjects}>
        {subjectsOf(grants, tokens).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <datalist id={names}>
        {tools.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {tool !== '' && tools.length === 0 && !isPlaceholderData ? (
        <p className="text-text-2 px-5 pb-4 text-small">{t.unknownTool(tool)}</p>
      ) : (
        <Answer subject={subject} view={view} tool={tool} isTool={tools.includes(tool)} />
      )}
    </Pane>
  );
}

interface QuestionProps {
  readonly subject: string;
  readonly view: string;
  readonly tool: string;
  /** While its name is typed, it is none yet. */
  readonly isTool: boolean;
}

const SUBJECT = /^(?:anyone|(?:token|user|client|group):.+)$/s;

function Answer({ subject, view, tool, isTool }: QuestionProps) {
  const isAsked = SUBJECT.test(subject) && isTool;
  const answer = useQuery(explainQuery({ subject, view, tool }, isAsked));
  if (!isAsked) return <p className="text-text-2 px-5 pb-4 text-small">{t.choose}</p>;
  if (answer.isPending) return <SkeletonRows count={3} />;
  if (answer.isError) {
    return <ErrorPane title={texts.errors.couldNotBeRead(t.explaining)} error={answer.error} />;
  }
  return (
    <>
      <Verdict explanation={answer.data} />
      <GateList explanation={answer.data} />
    </>
  );
}

function Verdict({ explanation }: { readonly explanation: ExplanationView }) {
  const { is_callable: isCallable, is_listed: isListed, message } = explanation;
  const [kind, icon, word] = isCallable
    ? (['info', CircleCheck, t.yes] as const)
    : isListed
      ? (['warn', Eye, t.listed] as const)
      : (['bad', Ban, t.no] as const);
  return (
    <Banner kind={kind} icon={icon} className="mx-5 mb-3">
      <strong>{word}</strong> {message}
    </Banner>
  );
}
