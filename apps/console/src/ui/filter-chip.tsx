import { Plus, X } from 'lucide-react';
import { texts } from '../texts/index.js';
import { Menu } from './menu.js';

interface FilterChipProps {
  /** `server`, `state`. */
  readonly name: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  /** Empty: the filter is off. */
  readonly onChange: (value: string) => void;
}

/** `state is failing ×`, or dashed while it is off. Its value belongs into the address (`useAddressState`). */
export function FilterChip({ name, value, options, onChange }: FilterChipProps) {
  const shown = options.find((option) => option.value === value)?.label ?? value;
  const items = options.map((option) => ({
    label: option.label,
    isChosen: option.value === value,
    onSelect: () => onChange(option.value),
  }));
  if (value === '') {
    const trigger = (
      <button
        type="button"
        className="border-control-line text-text-2 hover:bg-hover inline-flex h-6 items-center gap-1 rounded-2 border border-dashed px-2 text-small"
      >
        <Plus size={12} aria-hidden /> {name}
      </button>
    );
    return <Menu trigger={trigger} items={items} />;
  }
  return (
    <span className="border-accent-line bg-accent-weak inline-flex h-6 items-center rounded-2 border text-small">
      <Menu
        trigger={
          <button type="button" className="h-full px-2">
            {name} is <span className="font-mono">{shown}</span>
          </button>
        }
        items={items}
      />
      <button
        type="button"
        aria-label={`${texts.common.remove} ${name}`}
        className="border-accent-line h-full border-l px-1.5"
        onClick={() => onChange('')}
      >
        <X size={12} aria-hidden />
      </button>
    </span>
  );
}
