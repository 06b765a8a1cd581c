import type { ReactNode } from 'react';

export function Kbd({ children }: { readonly children: ReactNode }) {
  return (
    <kbd className="border-line-2 text-text-3 bg-page rounded-1 border px-1 font-ui text-label">
      {children}
    </kbd>
  );
}
