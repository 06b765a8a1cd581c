import type { ReactNode } from 'react';

/** Names and values, such as the settings of a connection. */
export function Details({ children }: { readonly children: ReactNode }) {
  return (
    <dl className="grid grid-cols-[minmax(72px,auto)_minmax(0,1fr)] gap-x-4 gap-y-1 px-5 pb-3 text-small">
      {children}
    </dl>
  );
}

interface DetailProps {
  readonly label: string;
  readonly mono?: boolean;
  readonly children: ReactNode;
}

/** Long values break; nothing is cut off. */
export function Detail({ label, mono, children }: DetailProps) {
  return (
    <>
      <dt className="text-text-3">{label}</dt>
      <dd
        className={`min-w-0 [overflow-wrap:anywhere] whitespace-pre-wrap${mono ? ' font-mono' : ''}`}
      >
        {children}
      </dd>
    </>
  );
}
