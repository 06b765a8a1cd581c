import type { ToolRow } from '../../model/tool-row.js';
import { texts } from '../../texts/index.js';
import { Badge } from '../../ui/badge.js';
import type { Column } from '../../ui/data-table.js';
import { count } from '../../ui/format.js';
import { RowLink } from '../../ui/row-link.js';
import { StateMark } from '../../ui/state-mark.js';
import { ToolName } from '../../ui/tool-name.js';

const t = texts.tools.columns;

/** The effect that matters most; the others are on the page of the tool. */
function EffectMark({ row }: { readonly row: ToolRow }) {
  const { effects, approval } = row;
  if (effects.includes('read_only')) return <Badge tint="ok">{texts.tool.readOnly}</Badge>;
  if (effects.includes('destructive')) return <Badge tint="bad">{texts.tool.destroys}</Badge>;
  return approval ? null : <Badge>{texts.tool.changes}</Badge>;
}

/** The address of a tool; a withheld one is read in Approvals. */
export function pathOf({ name, approval }: ToolRow): string {
  return approval ? `/approvals?id=${approval.id}` : `/tools/${encodeURIComponent(name)}`;
}

export function toolColumns(skillName: (id: string) => string): readonly Column<ToolRow>[] {
  return [
    {
      id: 'tool',
      head: t.tool,
      width: 'minmax(200px, 1.2fr)',
      narrow: 'first',
      isSortable: true,
      cell: (row) => (
        <RowLink path={pathOf(row)}>
          <ToolName name={row.name} />
        </RowLink>
      ),
    },
    {
      id: 'description',
      head: t.description,
      width: 'minmax(160px, 2fr)',
      narrow: 'second',
      cell: (row) => <span className="text-text-2 truncate">{row.line}</span>,
    },
    {
      id: 'skills',
      head: t.skills,
      width: 'minmax(120px, 0.8fr)',
      narrow: 'hidden',
      isSortable: true,
      cell: (row) => (
        <span className="flex gap-1 overflow-hidden">
          {row.skillIds.map((id) => (
            <Badge key={id}>{skillName(id)}</Badge>
          ))}
        </span>
      ),
    },
    {
      id: 'effects',
      head: t.effects,
      width: '112px',
      narrow: 'hidden',
      cell: (row) => <EffectMark row={row} />,
    },
    {
      id: 'tokens',
      head: t.tokens,
      width: '64px',
      align: 'end',
      narrow: 'hidden',
      isSortable: true,
      cell: ({ tokens }) => (tokens === undefined ? '' : count(tokens)),
    },
    {
      id: 'state',
      head: t.state,
      width: '104px',
      narrow: 'end',
      isSortable: true,
      cell: (row) => <StateMark state={row.state} />,
    },
  ];
}
