import { useQuery } from '@tanstack/react-query';
import type { ToolDetailView } from '@app/api-client';
import { Play } from 'lucide-react';
import { sessionQuery } from '../../../session/session.js';
import { texts } from '../../../texts/index.js';
import { Button } from '../../../ui/button.js';
import { Effects } from '../../../ui/effects.js';
import { Kbd } from '../../../ui/kbd.js';
import type { Problem } from '../../../ui/schema-form/check.js';

interface RunBarProps {
  readonly tool: ToolDetailView;
  readonly isReadable: boolean;
  readonly problems: readonly Problem[];
  readonly runsAnyway: boolean;
  readonly onReset: () => void;
  readonly onRun: () => void;
}

/** Who runs it with what effect, and what is still to be fixed. */
export function RunBar(props: RunBarProps) {
  const { tool, isReadable, problems, runsAnyway, onReset, onRun } = props;
  const { data: session } = useQuery(sessionQuery);
  const { source_server: server } = tool;
  const isOff = server !== null && server.status !== 'CONNECTED' && server.status !== 'DEGRADED';
  return (
    <div className="border-line bg-inset sticky bottom-0 z-10 flex items-center gap-3 border-y px-5 py-2.5">
      <div className="min-w-0 grow text-small">
        <Effects annotations={tool.annotations} />
        <p className="text-text-2">{texts.tool.runsAs(session?.name ?? '')}</p>
        {isOff && (
          <p className="text-warn">
            {texts.tool.serverOff(server.name, server.status.toLowerCase())}
          </p>
        )}
        <p role="status">
          {isReadable ? (
            problems.length > 0 && (
              <span className={runsAnyway ? 'text-warn' : 'text-bad'}>
                {runsAnyway
                  ? texts.tool.misfits(problems.length)
                  : texts.tool.toFix(problems.length)}
              </span>
            )
          ) : (
            <span className="text-bad">{texts.tool.notJson}</span>
          )}
        </p>
      </div>
      <Button kind="ghost" onClick={onReset}>
        {texts.tool.reset}
      </Button>
      <Button kind="primary" icon={Play} onClick={onRun}>
        {texts.tool.run}
        <span className="hidden tab:inline">
          <Kbd>⌘↵</Kbd>
        </span>
      </Button>
    </div>
  );
}
