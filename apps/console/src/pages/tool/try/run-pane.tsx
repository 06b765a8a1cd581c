import type { ToolDetailView } from '@app/api-client';
import { CircleStop, Play, RotateCcw } from 'lucide-react';
import type { JsonObject } from '../../../mcp/json.js';
import { texts } from '../../../texts/index.js';
import { Banner } from '../../../ui/banner.js';
import { Button } from '../../../ui/button.js';
import { bytes, duration } from '../../../ui/format.js';
import { Empty } from '../../../ui/pane.js';
import { RunResult } from '../result/run-result.js';
import { CopyRun } from './copy-run.js';
import { Questions } from './questions.js';
import { RunMark } from './run-list.js';
import { RunTimeline } from './run-timeline.js';
import { tokensOf } from './run-words.js';
import { type Run, runs } from './runs.js';

interface RunPaneProps {
  readonly tool: ToolDetailView;
  readonly run: Run | undefined;
  readonly onAgain: (args: JsonObject) => void;
}

/** One run: what came of it, when what happened, what the server asks, the result. */
export function RunPane({ tool, run, onAgain }: RunPaneProps) {
  if (!run) {
    return (
      <div className="min-w-0 grow">
        <Empty icon={Play} title={texts.tool.noRuns}>
          {texts.tool.noRunsHint}
        </Empty>
      </div>
    );
  }
  const isRunning = run.outcome === 'running' || run.outcome === 'waiting';
  return (
    <section
      aria-label={texts.tool.result}
      className="flex min-w-0 grow flex-col"
      aria-busy={isRunning}
    >
      <div className="border-line flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 border-b px-5 py-1">
        <div role="status" className="min-w-0">
          <RunMark run={run} isTitle />
        </div>
        <RunFigures run={run} />
        <div className="ml-auto">
          {isRunning ? (
            <Button icon={CircleStop} onClick={() => runs.cancel(run.id)}>
              {texts.tool.stop}
            </Button>
          ) : (
            <Button icon={RotateCcw} onClick={() => onAgain(run.args)}>
              {texts.tool.runAgain}
            </Button>
          )}
        </div>
      </div>
      <RunTimeline run={run} />
      {run.questions.length > 0 && (
        <Questions
          key={run.questions.map(({ key }) => key).join()}
          server={tool.source_server?.name ?? tool.name}
          questions={run.questions}
          onAnswer={(answers) => runs.answer(run.id, answers)}
        />
      )}
      {run.outcome === 'refused' && (
        <Banner kind="bad" className="mx-5 mt-4">
          {run.reason}
        </Banner>
      )}
      {run.result && <RunResult key={run.id} tool={tool} run={run} />}
      <CopyRun tool={run.tool} args={run.args} />
    </section>
  );
}

function RunFigures({ run }: { readonly run: Run }) {
  if (run.tookMs === 0) return null;
  const figures = [
    duration(run.tookMs),
    ...(run.result
      ? [
          bytes(run.bytes),
          texts.tool.aboutTokens(tokensOf(JSON.stringify(run.result['content'] ?? ''))),
        ]
      : []),
  ];
  return <span className="text-text-2">{figures.join(', ')}</span>;
}
