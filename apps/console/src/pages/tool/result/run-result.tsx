import type { ToolDetailView } from '@app/api-client';
import { Check, CircleAlert } from 'lucide-react';
import { texts } from '../../../texts/index.js';
import { CodeBlock } from '../../../ui/code-block.js';
import { useCheck } from '../../../ui/schema-form/use-check.js';
import { type Tab, Tabs } from '../../../ui/tabs.js';
import { addressesIn, tableOf } from '../try/result-table.js';
import { blocksOf, structuredOf, textsOf } from '../try/run-words.js';
import type { Run } from '../try/runs.js';
import { linksOf, ResultLinks } from './result-links.js';
import { mediaOf, ResultMedia } from './result-media.js';
import { ResultRows } from './result-rows.js';
import { ResultText } from './result-text.js';
import { RunLog } from './run-log.js';

/** Larger texts make the page slow; the whole is in the copied command's answer. */
const MAX_CHARS = 200_000;

interface RunResultProps {
  readonly tool: ToolDetailView;
  readonly run: Run;
}

/** A result in the ways in which it can be read; those that it has nothing for are left out. */
export function RunResult({ tool, run }: RunResultProps) {
  const { value, isFromText } = structuredOf(run);
  const table = tableOf(value);
  const links = linksOf(blocksOf(run), addressesIn(value));
  const media = mediaOf(blocksOf(run));
  const shownTexts = textsOf(run);
  const tabs: (Tab | false)[] = [
    table !== undefined && {
      id: 'table',
      label: texts.tool.table,
      content: <ResultRows table={table} isFromText={isFromText} />,
    },
    value !== undefined && {
      id: 'structured',
      label: texts.tool.structured,
      content: <Code value={value} />,
    },
    shownTexts.length > 0 && {
      id: 'text',
      label: texts.tool.text,
      content: <ResultText blocks={shownTexts} />,
    },
    media.length > 0 && {
      id: 'media',
      label: texts.tool.media,
      count: media.length,
      content: <ResultMedia media={media} />,
    },
    links.length > 0 && {
      id: 'links',
      label: texts.tool.links,
      count: links.length,
      content: <ResultLinks links={links} />,
    },
    run.moments.length > 0 && {
      id: 'log',
      label: texts.tool.log,
      count: run.moments.length,
      content: <RunLog moments={run.moments} />,
    },
    { id: 'raw', label: texts.tool.rawTab, content: <Code value={run.result} /> },
  ];
  return (
    <Tabs
      label={texts.tool.result}
      param="result"
      aside={<SchemaMark tool={tool} run={run} />}
      tabs={tabs.filter((tab) => tab !== false)}
    />
  );
}

function Code({ value }: { readonly value: unknown }) {
  return (
    <CodeBlock
      code={JSON.stringify(value, undefined, 2).slice(0, MAX_CHARS)}
      className="mx-5 my-4"
    />
  );
}

/** Whether the structured content is what the output schema promises. */
function SchemaMark({ tool, run }: RunResultProps) {
  const { output_schema: schema } = tool;
  const content = run.result?.['structuredContent'];
  const problems = useCheck(schema, content);
  if (!schema || run.outcome !== 'answered') return null;
  if (content === undefined) {
    return <Mark isGood={false} words={texts.tool.noStructured} />;
  }
  if (!problems) return null;
  return problems.length === 0 ? (
    <Mark isGood words={texts.tool.matches} />
  ) : (
    <Mark
      isGood={false}
      words={texts.tool.matchesNot(problems.length)}
      hint={problems.map(({ path, message }) => `${path.join('/')}: ${message}`).join('\n')}
    />
  );
}

interface MarkProps {
  readonly isGood: boolean;
  readonly words: string;
  readonly hint?: string;
}

function Mark({ isGood, words, hint }: MarkProps) {
  const Icon = isGood ? Check : CircleAlert;
  return (
    <span
      title={hint}
      className={`flex items-center gap-1.5 text-small whitespace-nowrap ${isGood ? 'text-ok' : 'text-warn'}`}
    >
      <Icon size={14} aria-hidden /> {words}
    </span>
  );
}
