import { X } from 'lucide-react';
import { Dialog as Primitive } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { texts } from '../texts/index.js';
import { Button } from './button.js';
import { Field, Input } from './field.js';

interface FloatingProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /** The buttons, at the end. */
  readonly footer?: ReactNode;
}

const shade = 'fixed inset-0 z-40 bg-shade';

/** In the middle of the page, for one question. */
export function Dialog({ isOpen, onClose, title, children, footer }: FloatingProps) {
  return (
    <Primitive.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Primitive.Portal>
        <Primitive.Overlay className={shade} />
        <Primitive.Content
          aria-describedby={undefined}
          className="bg-raise border-line shadow-float fixed top-[18%] left-1/2 z-50 max-h-[75vh] w-[calc(100%-32px)] max-w-110 -translate-x-1/2 overflow-auto rounded-3 border p-5"
        >
          <Primitive.Title className="text-title font-semibold">{title}</Primitive.Title>
          <div className="mt-2">{children}</div>
          {footer !== undefined && <div className="mt-5 flex justify-end gap-2">{footer}</div>}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

/** At the right edge, for a form or details beside a list. */
export function Drawer({ isOpen, onClose, title, children, footer }: FloatingProps) {
  return (
    <Primitive.Root open={isOpen} onOpenChange={(open) => !open && onClose()} modal>
      <Primitive.Portal>
        <Primitive.Overlay className={shade} />
        <Primitive.Content
          aria-describedby={undefined}
          className="bg-raise border-line shadow-float fixed inset-y-0 right-0 z-50 flex w-full max-w-(--drawer) flex-col border-l"
        >
          <div className="border-line flex h-(--topbar) shrink-0 items-center border-b px-4">
            <Primitive.Title className="text-title font-semibold">{title}</Primitive.Title>
            <Primitive.Close asChild>
              <Button kind="ghost" icon={X} aria-label={texts.common.close} className="ml-auto" />
            </Primitive.Close>
          </div>
          <div className="min-h-0 grow overflow-auto">{children}</div>
          {footer !== undefined && (
            <div className="border-line bg-inset flex shrink-0 items-center justify-end gap-2 border-t px-4 py-3">
              {footer}
            </div>
          )}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

interface ConfirmProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** `Remove 3 servers?` */
  readonly title: string;
  /** What leaves, what ends and what stays. */
  readonly children: ReactNode;
  readonly confirmLabel: string;
  /** To be typed first, when what is removed cannot be brought back. */
  readonly word?: string;
  readonly busy?: boolean;
  readonly onConfirm: () => void;
}

/** Before something that destroys: says what, how many, and what stays. */
export function ConfirmDialog(props: ConfirmProps) {
  const { isOpen, onClose, title, children, confirmLabel, word, busy = false, onConfirm } = props;
  const [typed, setTyped] = useState('');
  const isSure = word === undefined || typed === word;
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button
            kind="primary"
            className="!bg-bad !text-text-inv"
            disabled={!isSure}
            busy={busy}
            onClick={onConfirm}
          >
            {confirmLabel}
          </Button>
        </>
      }
    >
      <div className="text-text-2">{children}</div>
      {word !== undefined && (
        <Field label={texts.common.typeToConfirm(word)} className="mt-4">
          <Input mono value={typed} onChange={(event) => setTyped(event.target.value)} />
        </Field>
      )}
    </Dialog>
  );
}
