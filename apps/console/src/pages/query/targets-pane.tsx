import { Link } from '@tanstack/react-router';
import { EyeOff } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { Pane } from '../../ui/pane.js';
import { ServerName, ToolName } from '../../ui/tool-name.js';
import type { QueryExplanation } from './query-answer.js';

const { query: t } = texts;

/** Which tools were asked with what, which not, and why. */
export function TargetsPane({ explanation }: { readonly explanation: QueryExplanation }) {
  const { servers, notQueried } = explanation;
  const asked = servers.flatMap(({ name, asked: calls }) =>
    calls.map((call) => ({ server: name, ...call })),
  );
  const refused = servers
    .map(({ name, notAsked, planner }) => ({ name, notAsked, planner }))
    .filter(({ notAsked }) => notAsked.length > 0);
  return (
    <>
      <Pane title={t.asked} aside={asked.length}>
        {asked.length === 0 && <p className="text-text-2 px-5 pb-3">{t.askedNone}</p>}
        <ul>
          {asked.map(({ server, tool = '', why, arguments: given = {} }, at) => (
            <li key={at} className="border-line border-t px-5 py-1.5">
              <Link to="/tools/$name" params={{ name: `${server}.${tool}` }} className="text-text">
                <ToolName name={`${server}.${tool}`} />
              </Link>
              <p className="text-text-2 text-small [overflow-wrap:anywhere]">{why}</p>
              <p className="text-text-3 font-mono text-label [overflow-wrap:anywhere]">
                {JSON.stringify(given)}
              </p>
            </li>
          ))}
        </ul>
      </Pane>
      {refused.length + notQueried.length > 0 && (
        <Pane title={t.notAsked}>
          {notQueried.map(({ server, reason }) => (
            <NotAsked key={server} name={<ServerName name={server} />} reason={reason} />
          ))}
          {refused.map(({ name, notAsked }) => (
            <details key={name} className="border-line border-t px-5 py-1.5">
              <summary>
                <ServerName name={name} />{' '}
                <span className="text-text-2 text-small">{t.toolsNotAsked(notAsked.length)}</span>
              </summary>
              <ul className="pt-1 pl-4">
                {notAsked.map(({ tool = '', reason }) => (
                  <li key={tool} className="py-0.5">
                    <ToolName name={tool} />
                    <p className="text-text-2 text-small">{reason}</p>
                  </li>
                ))}
              </ul>
            </details>
          ))}
        </Pane>
      )}
    </>
  );
}

function NotAsked({ name, reason }: { readonly name: React.ReactNode; readonly reason: string }) {
  return (
    <div className="border-line flex gap-2 border-t px-5 py-1.5">
      <EyeOff size={14} aria-hidden className="text-text-3 mt-0.5 shrink-0" />
      <span className="min-w-0">
        {name}
        <span className="text-text-2 block text-small">{reason}</span>
      </span>
    </div>
  );
}
