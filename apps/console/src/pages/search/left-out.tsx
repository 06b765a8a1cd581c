import type { LeftOutToolView } from '@app/api-client';
import { EyeOff, type LucideIcon, Server, ShieldAlert, UserRoundKey } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import { LinkButton } from '../../ui/link-button.js';
import { NoRight, Pane } from '../../ui/pane.js';
import { ToolName } from '../../ui/tool-name.js';
import { ScoreBar } from './score-bar.js';
import { rowTracks } from './hit-row.js';

const { search: t } = texts;

export const kindIcons: Readonly<Record<LeftOutToolView['kind'], LucideIcon>> = {
  server: Server,
  withheld: ShieldAlert,
  view: EyeOff,
  level: UserRoundKey,
};

interface FixProps {
  readonly tool: LeftOutToolView;
  readonly view: string;
}

/** The page on which a person changes that the tool is left out. */
function Fix({ tool: { kind, server }, view }: FixProps) {
  const label = t.fixes[kind];
  switch (kind) {
    case 'server':
      return (
        <LinkButton to="/servers/$name" params={{ name: server }} small>
          {label}
        </LinkButton>
      );
    case 'withheld':
      return (
        <LinkButton to="/approvals" small>
          {label}
        </LinkButton>
      );
    case 'view':
      return (
        <LinkButton to="/views/$slug" params={{ slug: view === '' ? 'default' : view }} small>
          {label}
        </LinkButton>
      );
    case 'level':
      return (
        <LinkButton to="/access" search={{ tab: 'grants' }} small>
          {label}
        </LinkButton>
      );
    default:
      return kind satisfies never;
  }
}

interface GhostRowProps extends FixProps {
  readonly threshold: number;
  readonly isCompact: boolean;
}

/** A tool that would have been found, at the place that it would have, with what would bring it back. */
export function GhostRow({ tool, view, threshold, isCompact }: GhostRowProps) {
  const Icon = kindIcons[tool.kind];
  return (
    <li className="border-line border-b bg-[repeating-linear-gradient(135deg,var(--inset)_0_6px,transparent_6px_12px)]">
      <div className={classNames('grid items-center gap-x-3 px-5 py-1.5', rowTracks(isCompact))}>
        <EyeOff size={14} className="text-text-3 justify-self-end" aria-label={t.leftOut} />
        <span className="text-text-2 min-w-0">
          <ToolName name={tool.name} />
          <span className="text-warn flex items-center gap-1.5 text-small">
            <Icon size={12} aria-hidden className="shrink-0" />
            <span className="[overflow-wrap:anywhere]">{tool.reason}</span>
          </span>
        </span>
        <span className={classNames('min-w-0', isCompact ? 'hidden' : 'hidden tab:block')}>
          <ScoreBar lexical={tool.score} dense={0} threshold={threshold} isGhost />
          <span className="text-text-2 mt-1 block text-small">{t.wouldBe(tool.would_rank)}</span>
        </span>
        <span className="text-text-2 text-right font-semibold">{t.score(tool.score)}</span>
        <span
          className={classNames(
            isCompact
              ? 'hidden'
              : 'col-start-2 justify-self-start pt-1 tab:col-start-auto tab:justify-self-end tab:pt-0',
          )}
        >
          <Fix tool={tool} view={view} />
        </span>
      </div>
    </li>
  );
}

interface LeftOutPaneProps {
  /** Undefined for callers who may not know. */
  readonly tools: readonly LeftOutToolView[] | undefined;
  readonly total: number;
}

/** What fits and is not shown, by the reason. */
export function LeftOutPane({ tools, total }: LeftOutPaneProps) {
  if (!tools) return <NoRight>{t.leftOutNeedsAdmin}</NoRight>;
  const kinds = [...new Set(tools.map(({ kind }) => kind))];
  return (
    <Pane title={t.leftOut} aside={total > 0 && t.leftOutOf(total)}>
      {tools.length === 0 && <p className="text-text-2 px-5 pb-3 text-small">{t.leftOutNone}</p>}
      {kinds.map((kind) => {
        const Icon = kindIcons[kind];
        const ofKind = tools.filter((tool) => tool.kind === kind);
        return (
          <div key={kind} className="border-line border-t px-5 py-2">
            <p className="flex items-center gap-2 font-medium">
              <Icon size={14} aria-hidden className="text-warn shrink-0" />
              <span className="grow">{t.kinds[kind]}</span>
              <span>{ofKind.length}</span>
            </p>
            <ul className="pl-5.5">
              {ofKind.map((tool) => (
                <li key={tool.id} className="flex items-baseline justify-between gap-2">
                  <span className="text-text-2 min-w-0">
                    <ToolName name={tool.name} />
                  </span>
                  <span
                    className="text-text-2 text-small whitespace-nowrap"
                    title={t.wouldBe(tool.would_rank)}
                  >
                    {t.score(tool.score)}
                  </span>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </Pane>
  );
}
