import { X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { texts } from '../texts/index.js';
import { Button } from './button.js';
import { Drawer } from './dialog.js';
import { isTaken } from './list-keys.js';
import { useMediaQuery } from './media-query.js';

interface SidePanelProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /** The buttons, at the end. */
  readonly footer?: ReactNode;
}

/** A form or details beside a list that stays usable; below 1200 px it is a drawer over the page. */
export function SidePanel(props: SidePanelProps) {
  const isWide = useMediaQuery('(min-width: 1200px)');
  if (!isWide) return <Drawer {...props} />;
  return props.isOpen ? <Beside {...props} /> : null;
}

function Beside({ onClose, title, children, footer }: SidePanelProps) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isInside = panel.current?.contains(document.activeElement) === true;
      if (event.key === 'Escape' && (isInside ? !event.defaultPrevented : !isTaken(event)))
        onClose();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [onClose]);
  return (
    <aside
      ref={panel}
      aria-label={title}
      className="border-line bg-page sticky top-0 flex h-[calc(100dvh-var(--topbar))] w-(--drawer) shrink-0 flex-col border-l"
    >
      <div className="border-line flex h-(--topbar) shrink-0 items-center border-b px-5">
        <h2 className="text-title font-semibold">{title}</h2>
        <Button
          kind="ghost"
          icon={X}
          aria-label={texts.common.close}
          className="ml-auto"
          onClick={onClose}
        />
      </div>
      <div className="min-h-0 grow overflow-auto">{children}</div>
      {footer !== undefined && (
        <div className="border-line bg-inset flex shrink-0 items-center justify-end gap-2 border-t px-5 py-3">
          {footer}
        </div>
      )}
    </aside>
  );
}
