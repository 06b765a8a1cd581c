import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { texts } from '../texts/index.js';
import { Button } from './button.js';

const SHOWN_MS = 1_500;

interface CopyButtonProps {
  readonly text: string;
  /** With it the button shows the label, without it only the icon. */
  readonly label?: string;
  readonly small?: boolean;
}

export function CopyButton({ text, label, small = true }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = window.setTimeout(() => setCopied(false), SHOWN_MS);
    return () => window.clearTimeout(timer);
  }, [isCopied]);
  const said = isCopied ? texts.common.copied : (label ?? texts.common.copy);
  return (
    <Button
      kind={label === undefined ? 'ghost' : 'plain'}
      small={small}
      icon={isCopied ? Check : Copy}
      aria-label={said}
      title={said}
      onClick={() => {
        void navigator.clipboard.writeText(text).then(() => setCopied(true));
      }}
    >
      {label === undefined ? undefined : said}
    </Button>
  );
}
