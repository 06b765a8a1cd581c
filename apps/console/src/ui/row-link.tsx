import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';

interface RowLinkProps {
  /** A path of the console with its parameters in it, such as `/tools/github.search`. */
  readonly path: string;
  readonly children: ReactNode;
}

/**
 * A link in a row of a long list. The link of the router computes its address from the page that is shown at every
 * rendering, which is most of the work while a list scrolls.
 */
export function RowLink({ path, children }: RowLinkProps) {
  const router = useRouter();
  const open = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) {
      return;
    }
    event.preventDefault();
    router.history.push(`${router.basepath}${path}`);
  };
  return (
    <a
      href={`${router.basepath}${path}`}
      onClick={open}
      className="text-text no-underline hover:underline"
    >
      {children}
    </a>
  );
}
