import { useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useMemo } from 'react';
import { tokensQuery, viewsQuery } from '../../api/queries.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { DataTable } from '../../ui/data-table.js';
import { FilterInput } from '../../ui/field.js';
import { FilterChip } from '../../ui/filter-chip.js';
import { Empty, ErrorPane, NoRight, SkeletonRows } from '../../ui/pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { tokenColumns } from './token-columns.js';

const { access: t } = texts;

export function TokenList({ onIssue }: { readonly onIssue: () => void }) {
  const maySee = useMay('admin');
  const [text, setText] = useAddressState('q', '');
  const [role, setRole] = useAddressState('role', '');
  const tokens = useQuery({ ...tokensQuery, enabled: maySee });
  const { data: views = [] } = useQuery(viewsQuery);
  const columns = useMemo(() => tokenColumns(views), [views]);
  if (!maySee) return <NoRight>{t.tokensNeedAdmin}</NoRight>;
  const wanted = text.trim().toLowerCase();
  const shown = (tokens.data ?? []).filter(
    (token) => (role === '' || token.role === role) && token.name.toLowerCase().includes(wanted),
  );
  const hasIssued = tokens.data?.some(({ id }) => id !== null) ?? true;
  return (
    <>
      <div className="border-line flex flex-wrap items-center gap-2 border-b px-5 py-2.5">
        <FilterInput
          label={t.filterTokens}
          value={text}
          onChange={(e) => setText(e.target.value)}
        />
        <FilterChip
          name={t.role.toLowerCase()}
          value={role}
          options={Object.entries(t.roles).map(([value, label]) => ({ value, label }))}
          onChange={setRole}
        />
      </div>
      {tokens.isError && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(t.tokens)}
          error={tokens.error}
          onRetry={() => void tokens.refetch()}
        />
      )}
      {tokens.isPending && <SkeletonRows />}
      {shown.length > 0 && (
        <DataTable
          label={t.tokens}
          columns={columns}
          groups={[{ id: 'all', label: '', rows: shown }]}
          idOf={({ id, name }) => id ?? `configured ${name}`}
          nameOf={({ name }) => name}
        />
      )}
      {tokens.data && shown.length === 0 && <Empty icon={KeyRound} title={t.nothingFits} />}
      {!hasIssued && wanted === '' && role === '' && (
        <Empty
          icon={KeyRound}
          title={t.emptyTokens}
          action={<Button onClick={onIssue}>{t.issue}</Button>}
        >
          {t.emptyTokensHint}
        </Empty>
      )}
    </>
  );
}
