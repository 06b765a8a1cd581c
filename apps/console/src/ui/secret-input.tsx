import { Eye, EyeOff } from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import { texts } from '../texts/index.js';
import { Button } from './button.js';
import { classNames } from './class-names.js';
import { Input } from './field.js';

/** What the service shows instead of a secret; sent back it means unchanged. */
export const MASK = '********';

type SecretInputProps = Omit<ComponentProps<typeof Input>, 'type' | 'value'> & {
  readonly value: string;
};

/** Hides what is typed, unless it is a placeholder such as `${TOKEN}`, a mask, or the eye was clicked. */
export function SecretInput({ value, className, ...rest }: SecretInputProps) {
  const [isShown, setShown] = useState(false);
  const isOpen = value.includes('${') || value.includes(MASK);
  return (
    <span className={classNames('relative block min-w-0', className)}>
      <Input
        autoComplete="off"
        {...rest}
        mono
        value={value}
        type={isOpen || isShown ? 'text' : 'password'}
        className="pr-7"
      />
      {value !== '' && !isOpen && (
        <Button
          kind="ghost"
          small
          icon={isShown ? EyeOff : Eye}
          aria-label={isShown ? texts.common.hide : texts.common.show}
          className="absolute inset-y-0 right-0.5 my-auto"
          onClick={() => setShown(!isShown)}
        />
      )}
    </span>
  );
}
