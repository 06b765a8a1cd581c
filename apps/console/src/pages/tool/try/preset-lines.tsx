import { useQuery } from '@tanstack/react-query';
import { Lock } from 'lucide-react';
import { useMay } from '../../../session/session.js';
import { texts } from '../../../texts/index.js';
import { overridesQuery } from '../tool-queries.js';

/** Arguments that an override sets for everybody. */
export function PresetLines({ toolId }: { readonly toolId: string }) {
  const mayRead = useMay('admin');
  const { data: overrides = [] } = useQuery({ ...overridesQuery(toolId), enabled: mayRead });
  const override = overrides.find(({ view }) => view === null);
  const presets = Object.entries(override?.preset_arguments ?? {});
  if (presets.length === 0) return null;
  return (
    <ul className="bg-inset mt-4 flex flex-col gap-1 rounded-2 px-2.5 py-2 text-small">
      {presets.map(([name, value]) => (
        <li key={name} className="flex items-center gap-2">
          <Lock size={12} aria-hidden className="text-text-3 shrink-0" />
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <span className="font-mono">{name}</span> {texts.tool.preset(JSON.stringify(value))}
          </span>
        </li>
      ))}
    </ul>
  );
}
