import { type ComponentProps, createContext, type ReactNode, useContext, useId } from 'react';
import { classNames } from './class-names.js';

interface FieldIds {
  readonly control: string;
  readonly hint: string;
  readonly isInvalid: boolean;
}

const FieldContext = createContext<FieldIds | undefined>(undefined);

interface FieldProps {
  readonly label: ReactNode;
  /** Beside the label, such as the type. */
  readonly aside?: ReactNode;
  readonly hint?: ReactNode;
  /** A sentence that says what to change. */
  readonly error?: string | undefined;
  /** The label is the name of a thing, such as an argument. */
  readonly mono?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A label, a control of this file, and a hint or what is wrong. */
export function Field({ label, aside, hint, error, mono, className, children }: FieldProps) {
  const id = useId();
  const ids = { control: `${id}-control`, hint: `${id}-hint`, isInvalid: error !== undefined };
  const note = error ?? hint;
  return (
    <FieldContext value={ids}>
      <div className={classNames('min-w-0', className)}>
        <div className="mb-1 flex items-baseline justify-between gap-2 text-small">
          <label htmlFor={ids.control} className={mono ? 'font-mono' : 'font-medium'}>
            {label}
          </label>
          {aside !== undefined && <span className="text-text-3 text-label">{aside}</span>}
        </div>
        {children}
        {note !== undefined && (
          <p
            id={ids.hint}
            className={classNames(
              'mt-1 text-label',
              error === undefined ? 'text-text-3' : 'text-bad',
            )}
          >
            {note}
          </p>
        )}
      </div>
    </FieldContext>
  );
}

const controlLook =
  'block w-full min-w-0 rounded-2 border bg-page px-2.5 outline-offset-0 disabled:bg-inset disabled:text-text-3';

function useControl() {
  const ids = useContext(FieldContext);
  return {
    props: ids && {
      id: ids.control,
      'aria-describedby': ids.hint,
      'aria-invalid': ids.isInvalid,
    },
    border: ids?.isInvalid ? 'border-bad-mark' : 'border-control-line',
  };
}

interface ControlLook {
  readonly mono?: boolean;
}

export function Input({ mono, className, ...rest }: ComponentProps<'input'> & ControlLook) {
  const { props, border } = useControl();
  return (
    <input
      spellCheck={false}
      {...props}
      {...rest}
      className={classNames(
        controlLook,
        'h-(--control)',
        border,
        mono && 'font-mono text-small',
        className,
      )}
    />
  );
}

export function TextArea({ mono, className, ...rest }: ComponentProps<'textarea'> & ControlLook) {
  const { props, border } = useControl();
  return (
    <textarea
      spellCheck={false}
      {...props}
      {...rest}
      className={classNames(
        controlLook,
        'py-1.5',
        border,
        mono && 'font-mono text-small',
        className,
      )}
    />
  );
}

export function Select({ className, ...rest }: ComponentProps<'select'>) {
  const { props, border } = useControl();
  return (
    <select
      {...props}
      {...rest}
      className={classNames(controlLook, 'h-(--control) pr-6', border, className)}
    />
  );
}

interface CheckboxProps extends Omit<ComponentProps<'input'>, 'type'> {
  /** Some of what it stands for is chosen. */
  readonly indeterminate?: boolean;
}

/** Needs `aria-label`, or a label around it. */
export function Checkbox({ indeterminate = false, className, ...rest }: CheckboxProps) {
  return (
    <input
      type="checkbox"
      {...rest}
      ref={(element) => {
        if (element) element.indeterminate = indeterminate;
      }}
      className={classNames('size-3.5 shrink-0 cursor-pointer accent-(--accent)', className)}
    />
  );
}

interface SearchInputProps extends Omit<ComponentProps<'input'>, 'type'> {
  readonly label: string;
}

/** Filters the list below it; `F` moves the focus here. */
export function FilterInput({ label, className, ...rest }: SearchInputProps) {
  return (
    <input
      type="search"
      spellCheck={false}
      data-filter-input
      aria-label={label}
      placeholder={label}
      {...rest}
      className={classNames(controlLook, 'border-control-line h-(--control) max-w-60', className)}
    />
  );
}
