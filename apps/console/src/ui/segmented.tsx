import { classNames } from './class-names.js';

interface SegmentedProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly onChange: (value: T) => void;
}

/** A choice between a few values that exclude each other. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
}: SegmentedProps<T>) {
  return (
    <div
      role="group"
      aria-label={label}
      className="border-control-line/60 inline-flex max-w-full shrink-0 overflow-x-auto rounded-2 border"
    >
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className={classNames(
            'border-line-2 h-[calc(var(--control)-2px)] border-l px-2.5 whitespace-nowrap first:border-l-0',
            option.value === value ? 'bg-press font-medium' : 'text-text-2 hover:bg-hover',
          )}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
