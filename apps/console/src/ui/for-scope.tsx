import type { ReactNode } from 'react';
import { type Scope, useMay } from '../session/session.js';
import { texts } from '../texts/index.js';
import { PageHeader } from './page-header.js';
import { NoRight } from './pane.js';

interface ForScopeProps {
  readonly scope: Scope;
  readonly title: string;
  readonly children: ReactNode;
}

/** A page that asks for nothing without the scope, such as one that is opened by an address from somebody else. */
export function ForScope({ scope, title, children }: ForScopeProps) {
  const may = useMay(scope);
  if (may) return children;
  return (
    <>
      <PageHeader title={title} />
      <NoRight>{texts.common.noRight(scope)}</NoRight>
    </>
  );
}
