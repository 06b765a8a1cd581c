import { Download } from 'lucide-react';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { Menu } from '../../ui/menu.js';
import type { Filters } from './rows.js';
import { auditQuery } from './use-audit-log.js';

const { activity: t } = texts;

function download(filters: Filters, format: 'csv' | 'ndjson'): void {
  const link = document.createElement('a');
  const query = new URLSearchParams({ ...auditQuery(filters), format });
  link.href = `/api/v1/aggregator/audit/export?${query.toString()}`;
  link.download = `activity.${format}`;
  link.click();
}

/** The audit log with the filters of the page, as a file. */
export function ExportMenu({ filters }: { readonly filters: Filters }) {
  const mayRead = useMay('admin');
  if (!mayRead) return null;
  return (
    <Menu
      trigger={
        <Button icon={Download}>
          <span className="sr-only tab:not-sr-only">{t.export}</span>
        </Button>
      }
      items={[
        { label: t.csv, onSelect: () => download(filters, 'csv') },
        { label: t.ndjson, onSelect: () => download(filters, 'ndjson') },
      ]}
    />
  );
}
