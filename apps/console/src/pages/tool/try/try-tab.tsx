import type { ToolDetailView } from '@app/api-client';
import { useRef, useState } from 'react';
import type { JsonObject } from '../../../mcp/json.js';
import { FOUND_BY } from '../../../model/found-by.js';
import { useMay } from '../../../session/session.js';
import { texts } from '../../../texts/index.js';
import { NoRight } from '../../../ui/pane.js';
import { useAddressState } from '../../../ui/tabs.js';
import { ArgumentsPane } from './arguments-pane.js';
import { RunList } from './run-list.js';
import { RunPane } from './run-pane.js';
import { runs, useRuns } from './runs.js';

/** Arguments and runs at the left, the chosen run at the right. */
export function TryTab({ tool }: { readonly tool: ToolDetailView }) {
  const mayCall = useMay('call');
  const own = useRuns(tool.name);
  const [selectedId, select] = useState<number>();
  const [foundBy] = useAddressState(FOUND_BY, '');
  const pane = useRef<HTMLDivElement>(null);
  const start = (args: JsonObject): void => {
    const searchId = foundBy === '' ? undefined : foundBy;
    select(runs.start({ tool: tool.name, args, inputSchema: tool.input_schema, searchId }));
    // On a narrow screen the result is below the arguments.
    requestAnimationFrame(() => pane.current?.scrollIntoView({ block: 'nearest' }));
  };
  if (!mayCall) return <NoRight>{texts.tool.tryNoScope}</NoRight>;
  const selected = own.find(({ id }) => id === selectedId) ?? own[0];
  return (
    <div className="flex min-h-full flex-col nav:flex-row">
      <div className="border-line flex min-w-0 shrink-0 flex-col border-b nav:w-110 nav:border-r nav:border-b-0">
        <ArgumentsPane tool={tool} onRun={start} />
        <RunList runs={own} selectedId={selected?.id} onSelect={select} />
      </div>
      <div ref={pane} className="flex min-h-[60vh] min-w-0 grow flex-col">
        <RunPane tool={tool} run={selected} onAgain={start} />
      </div>
    </div>
  );
}
